"""PyTorch's own lists of who reviews what: merge rules, labels by path, module maintainers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.yaml.nodes import Field, compose, decoded, read_entries


class Pattern(NamedTuple):
    """A pattern over paths, as written."""

    text: str
    line: int


class MergeRule(NamedTuple):
    """A rule of ``.github/merge_rules.yaml``: who may approve a pull request."""

    name: str
    patterns: tuple[Pattern, ...]
    approved_by: tuple[str, ...]
    """GitHub users and ``org/team``; empty for any reviewer with rights."""
    checks: tuple[str, ...]
    """Checks that must pass before the merge."""
    line: int


class LabelRule(NamedTuple):
    """A label of ``.github/labeler.yml`` with its path patterns."""

    label: str
    patterns: tuple[Pattern, ...]
    line: int


class Module(NamedTuple):
    """A module in persons_of_interest with its maintainers."""

    name: str
    people: tuple[str, ...]
    """GitHub names, without emeriti."""
    line: int


def read_merge_rules(data: bytes, path: str) -> tuple[tuple[MergeRule, ...], tuple[Problem, ...]]:
    """The rules in order."""
    entries, problems = read_entries(data, path)
    rules = []
    for entry in entries:
        fields = {key: tuple(_patterns(field)) for key, field in entry.fields.items()}
        name = entry.fields.get("name")
        rules.append(
            MergeRule(
                (name.value.text if name else None) or "(no name)",
                fields.get("patterns", ()),
                tuple(one.text for one in fields.get("approved_by", ())),
                tuple(one.text for one in fields.get("mandatory_checks_name", ())),
                entry.line,
            )
        )
    return tuple(rules), tuple(problems)


def read_labeler(data: bytes, path: str) -> tuple[tuple[LabelRule, ...], tuple[Problem, ...]]:
    """The labels in order."""
    problems: list[Problem] = []
    node = compose(decoded(data), 0, path, problems)
    if node is None or node.fields is None:
        return (), tuple(problems or [Problem(path, 1, "not a mapping of labels to patterns")])
    rules = tuple(
        LabelRule(field.key, tuple(_patterns(field)), field.line) for field in node.fields.values()
    )
    return rules, tuple(problems)


def _patterns(field: Field) -> Iterator[Pattern]:
    for item in field.value.items:
        if item.text is not None:
            yield Pattern(item.text, item.line)


def merge_match(rule: MergeRule, path: str) -> Pattern | None:
    """The pattern of a merge rule that covers a path.

    As ``patterns_to_regex`` of PyTorch's merge script: ``*`` stays in a folder, ``**`` does not,
    and a prefix match is enough.
    """
    return next((one for one in rule.patterns if _merge_regex(one.text).match(path)), None)


def label_match(rule: LabelRule, path: str) -> Pattern | None:
    """The pattern of a label that matches a whole path."""
    return next((one for one in rule.patterns if _merge_regex(one.text).fullmatch(path)), None)


@cache
def _merge_regex(pattern: str) -> re.Pattern[str]:
    parts = {"**": ".*", "*": "[^/]*", "?": "."}
    found = re.findall(r"\*\*|.", pattern)
    return re.compile("".join(parts.get(one, re.escape(one)) for one in found))


_UNDERLINE = regex(r"^([=~^\-*])\1{2,}\s*$")
_PERSON = regex(r"https://github\.com/([\w-]+)")
_HEADING = regex(r"^#+\s+(.*\S)\s*$")


def read_persons(data: bytes) -> tuple[Module, ...]:
    """Modules with their maintainers, from ``persons_of_interest`` in .rst or .md."""
    modules: list[Module] = []
    lines = data.decode("utf-8", "replace").splitlines()
    for number, text in enumerate(lines, 1):
        below = lines[number] if number < len(lines) else ""
        heading = _HEADING.match(text)
        if heading or (text.strip() and _UNDERLINE.match(below)):
            modules.append(Module(heading[1] if heading else text.strip(), (), number))
        elif modules and "emeritus" not in text:
            last = modules[-1]
            modules[-1] = last._replace(people=(*last.people, *_PERSON.findall(text)))
    return tuple(one for one in modules if one.people)
