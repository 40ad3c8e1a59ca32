"""Reviewers of a change by each of PyTorch's lists, with their meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.readers.project.codeowners_file import OwnerRules, read_codeowners, read_label_lines
from indexes.readers.project.review import (
    LabelRule,
    MergeRule,
    Module,
    label_match,
    merge_match,
    read_labeler,
    read_merge_rules,
    read_persons,
)
from indexes.readers.python.tests import read_owners
from indexes.source.source import Source

ReviewKind = Literal["codeowners", "label", "merge rule", "test owner", "maintainer"]

MEANING: dict[ReviewKind, str] = {
    "codeowners": "is asked to review: GitHub notifies them of the pull request",
    "label": "label that the pull request gets, by which maintainers find it",
    "merge rule": "may approve it, when the rule's patterns cover every file of the change",
    "test owner": "label of the team that triages these tests when they fail",
    "maintainer": "maintains the module, and answers questions",
}
CODEOWNERS = ("CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks for it."""
MERGE_RULES = ".github/merge_rules.yaml"
LABELER = ".github/labeler.yml"
PERSONS = tuple(
    f"docs/source/community/persons_of_interest.{extension}" for extension in ("rst", "md")
)


@dataclass(frozen=True, slots=True)
class Review:
    """One list's answer for one path."""

    kind: ReviewKind
    who: tuple[str, ...]
    """People, teams or labels, as listed."""
    path: str
    location: Location
    """The line of the rule."""
    rule: str
    """As written: ``/torch/csrc/autograd/``, ``Linear Algebra: aten/**/*Linalg*``."""
    note: str = ""

    @property
    def meaning(self) -> str:
        return MEANING[self.kind]


_MOST: dict[ReviewKind, int] = {
    "codeowners": 3,
    "label": 4,
    "merge rule": 2,
    "test owner": 2,
    "maintainer": 2,
}
"""Most reviews of each kind for one change."""


def _is_of_all(one: Review) -> bool:
    """Whether its rule covers every file."""
    return one.kind in ("merge rule", "codeowners") and one.rule.split(" ")[-1].strip("*/") == ""


def _counted(same: list[Review], total: int) -> Review:
    """The first review by one rule, with the number of files it covers."""
    count = f"{len(same)} of the {total} files" if total > 1 else ""
    return replace(same[0], note="; ".join(filter(None, (count, same[0].note))))


class Reviewers:
    """PyTorch's lists of reviewers in one tree; missing lists are ignored."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def of(self, path: str) -> tuple[Review, ...]:
        """Every list's answer for a path, the most specific first."""
        found = [*self._codeowners(path), *self._labels(path), *self._test_owners(path)]
        return (*found, *self._merge_rules(path), *self._maintainers(path))

    def asked(self, path: str) -> tuple[Review, ...]:
        """As ``of``, without those who may only approve."""
        found = [*self._codeowners(path), *self._labels(path), *self._test_owners(path)]
        return (*found, *self._maintainers(path))

    def for_change(self, paths: Iterable[str]) -> tuple[Review, ...]:
        """The few most concerned by a change: from each list those that cover most files. Rules for
        all files only if there are no others."""
        paths = tuple(dict.fromkeys(paths))
        covered: dict[tuple[str, ...], list[Review]] = {}
        for one in (review for path in paths for review in self.of(path)):
            rule = one.rule.partition(": ")[0] if one.kind == "merge rule" else str(one.location)
            covered.setdefault((one.kind, rule, *one.who), []).append(one)
        found = sorted(covered.values(), key=lambda same: -len(same))
        telling = [same for same in found if not _is_of_all(same[0])] or found
        few = [
            _counted(same, len(paths))
            for kind in MEANING
            for same in [same for same in telling if same[0].kind == kind][: _MOST[kind]]
        ]
        return tuple(few)

    def covering(self, paths: Iterable[str]) -> tuple[Review, ...]:
        """The merge rules that cover all these paths."""
        paths = tuple(paths)
        return tuple(
            one
            for rule in self._rules[1]
            if paths and all(merge_match(rule, path) for path in paths)
            for one in self._of_rule(rule, paths[0])
        )

    # ------------------------------------------------------------------------- lists

    def _codeowners(self, path: str) -> Iterator[Review]:
        file, rules, _ = self._owners
        rule = rules.deciding(path)
        if rule and rule.owners:
            where = Location(file, rule.line)
            yield Review("codeowners", rule.owners, path, where, rule.pattern, rule.section)

    def _labels(self, path: str) -> Iterator[Review]:
        file, _, labelled = self._owners
        rule = labelled.deciding(path)
        if rule and rule.labels:
            yield Review("label", rule.labels, path, Location(file, rule.line), rule.pattern)
        for one in self._labeler:
            if found := label_match(one, path):
                yield Review("label", (one.label,), path, Location(LABELER, found.line), found.text)

    def _test_owners(self, path: str) -> Iterator[Review]:
        if path.startswith("test/") and path.endswith(".py"):
            owners = read_owners(self._source.content(path))
            if owners:
                labels = tuple(one.symbol for one in owners)
                where = Location(path, owners[0].line)
                yield Review("test owner", labels, path, where, "# Owner(s):")

    def _merge_rules(self, path: str) -> Iterator[Review]:
        for rule in self._rules[1]:
            if merge_match(rule, path):
                yield from self._of_rule(rule, path)

    def _of_rule(self, rule: MergeRule, path: str) -> Iterator[Review]:
        found = merge_match(rule, path)
        if found:
            who = rule.approved_by or ("anyone who may review",)
            checks = f"checks: {', '.join(rule.checks)}" if rule.checks else ""
            where = Location(MERGE_RULES, found.line)
            yield Review("merge rule", who, path, where, f"{rule.name}: {found.text}", checks)

    def _maintainers(self, path: str) -> Iterator[Review]:
        file, modules = self._persons
        for module in modules:
            if why := module_covers(module.name, path):
                yield Review(
                    "maintainer", module.people, path, Location(file, module.line), module.name, why
                )

    # ------------------------------------------------------------------------- files

    @cached_property
    def _owners(self) -> tuple[str, OwnerRules, OwnerRules]:
        for file in CODEOWNERS:
            data = self._source.content(file)
            if data:
                return file, read_codeowners(data, file)[0], read_label_lines(data)
        return "", OwnerRules(), OwnerRules()

    @cached_property
    def _rules(self) -> tuple[str, tuple[MergeRule, ...]]:
        data = self._source.content(MERGE_RULES)
        return MERGE_RULES, read_merge_rules(data, MERGE_RULES)[0] if data else ()

    @cached_property
    def _labeler(self) -> tuple[LabelRule, ...]:
        data = self._source.content(LABELER)
        return read_labeler(data, LABELER)[0] if data else ()

    @cached_property
    def _persons(self) -> tuple[str, tuple[Module, ...]]:
        for file in PERSONS:
            data = self._source.content(file)
            if data:
                return file, read_persons(data)
        return "", ()

    @property
    def missing(self) -> tuple[str, ...]:
        found = (
            ("CODEOWNERS", self._owners[1].rules),
            (MERGE_RULES, self._rules[1]),
            (LABELER, self._labeler),
            ("persons_of_interest", self._persons[0]),
        )
        return tuple(name for name, there in found if not there)


_DOTTED = regex(r"\((torch[\w./]*)\)")


def module_covers(name: str, path: str) -> str:
    """Why a module of persons_of_interest covers a path; empty if it does not.

    ``Linear Algebra (torch.linalg)`` names its Python package; in a heading of one word, or several
    between slashes (``AMD/ROCm/HIP``), a word is a folder's name.
    """
    folders = path.split("/")[:-1]
    if found := _DOTTED.search(name):
        package = found[1].replace(".", "/").rstrip("/")
        if f"{path}/".startswith((f"{package}/", f"{package}.py/")):
            return f"the heading names {found[1]}"
    title = name.partition("(")[0]
    for word in (part.strip() for part in title.split("/")):
        if len(word) > 1 and " " not in word and word.lower() in folders:
            return f"the heading names the folder {word.lower()}/"
    return ""
