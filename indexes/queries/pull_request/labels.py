"""Labels of a pull request by the tree's rules: those set by bots, and proposals for ``release
notes:`` and ``topic:``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.contribution.reviewers import LABELER, Reviewers
from indexes.queries.pull_request.model import ChangedFile, Label, LabelKind
from indexes.readers.project.release_notes import read_category_rules, read_title_rules, read_words
from indexes.readers.yaml.nodes import read_entries
from indexes.source.source import Source

LABEL_TO_LABEL = ".github/label_to_label.yml"
NOTES = "scripts/release_notes/commitlist.py"
TOPICS = "scripts/release_notes/common.py"
_NOTES, _TOPIC = "release notes: ", "topic: "
_NOT_FACING = "not user facing"
_INTERNAL = regex(
    r"(test|\.github|\.ci|\.circleci|benchmarks|scripts|tools)/.*|\.[\w-]+\.\w+|[A-Z_]+\.md"
)
_DOCS = regex(r"docs/.*|.*\.(md|rst)|(.*/)?_\w*docs\.py")
_TOPIC_WORDS = (
    ("deprecation", r"\bdeprecat"),
    ("bc breaking", r"\bbc[- ]?breaking\b"),
    ("bug fixes", r"\b(fix(es|ed)?|bug|crash|incorrect|wrong)\b"),
    ("performance", r"\b(speed ?up|perf|faster|optimi[sz]e\w*|vectori[sz]e\w*)\b"),
    ("docs", r"\b(docs?|docstrings?|documentation|typos?)\b"),
    ("new features", r"\b(introduce|new (op|operator|api|feature))\b"),
    ("improvements", r"\b(add|support|implement|enable|improve|allow)\w*\b"),
)
"""Words of a title by which a topic is proposed, most specific first."""


class Labels:
    """The labels that one tree has rules for."""

    def __init__(self, source: Source, reviewers: Reviewers) -> None:
        self._source = source
        self._reviewers = reviewers

    def of(
        self, files: Sequence[ChangedFile], title: str, documented: Collection[str] = ()
    ) -> tuple[Label, ...]:
        """The labels of a change: those set by bots, then proposals. ``documented``: the files of
        which docstrings alone change."""
        paths = [one.path for one in files]
        found = list(self._by_path(paths))
        found += self._by_label(found)
        if not any(one.name.startswith(_NOTES) for one in found):
            found += self._notes(paths, title)
        if not any(one.name.startswith(_TOPIC) for one in found):
            found += self._topic(paths, title, documented)
        return tuple({one.name: one for one in reversed(found)}.values())[::-1]

    def _by_path(self, paths: Sequence[str]) -> Iterator[Label]:
        for path in paths:
            for one in self._reviewers.of(path):
                if one.kind == "label":
                    for name in one.who:
                        why = f"{one.rule} covers {path}"
                        bot = one.location.path == LABELER
                        yield Label(_kind(name), name, one.location, why, bot)

    def _by_label(self, labels: Sequence[Label]) -> Iterator[Label]:
        """The labels that label_to_label.yml adds, repeatedly."""
        names = {one.name for one in labels}
        pending = True
        while pending:
            pending = False
            for wanted, every, then, line in self._implied:
                met = names >= set(wanted) if every else names & set(wanted)
                if wanted and met and not names >= set(then):
                    pending = True
                    why = f"it comes with {', '.join(one for one in wanted if one in names)}"
                    for name in (one for one in then if one not in names):
                        yield Label(_kind(name), name, Location(LABEL_TO_LABEL, line), why, True)
                    names |= set(then)

    @cached_property
    def _implied(self) -> tuple[tuple[tuple[str, ...], bool, tuple[str, ...], int], ...]:
        """The sets of labels (any or all) that imply others, with those and the line."""
        found = []
        for entry in read_entries(self._source.content(LABEL_TO_LABEL), LABEL_TO_LABEL)[0]:
            texts = {key: field.value.texts or () for key, field in entry.fields.items()}
            wanted = texts.get("any") or texts.get("all", ())
            found.append((wanted, "all" in texts, texts.get("then", ()), entry.line))
        return tuple(found)

    # ------------------------------------------------------------------- release notes

    def _notes(self, paths: Sequence[str], title: str) -> Iterator[Label]:
        """The category chosen by the release notes scripts."""
        data = self._source.content(NOTES)
        for rule in read_title_rules(data):
            if rule.text in title.lower():
                why = f"the title has {rule.text}"
                yield self._note(rule.category, rule.line, why)
                return
        rules = read_category_rules(data)
        for path in paths:
            for by_path in rules:
                if by_path.takes(path):
                    yield self._note(by_path.category, by_path.line, f"by the path {path}")
                    return

    def _note(self, category: str, line: int, why: str) -> Label:
        short = category.removesuffix("_frontend")
        known, _ = read_words(self._source.content(TOPICS), "frontend_categories")
        also = f", or {_NOTES}{short}" if short in known and short != category else ""
        why = f"{why}: the category {category}{also}, whichever GitHub lists"
        return Label("release notes", _NOTES + category, Location(NOTES, line), why, False)

    @property
    def topics(self) -> tuple[str, ...]:
        words, _ = read_words(self._source.content(TOPICS), "topics")
        return tuple(_TOPIC + one for one in words if one[:1].islower())

    def _topic(
        self, paths: Sequence[str], title: str, documented: Collection[str]
    ) -> Iterator[Label]:
        words, line = read_words(self._source.content(TOPICS), "topics")
        for topic, why in self._proposed(paths, title, documented):
            if topic in words:
                yield Label("topic", _TOPIC + topic, Location(TOPICS, line), why, False)
                return

    def _proposed(
        self, paths: Sequence[str], title: str, documented: Collection[str]
    ) -> Iterator[tuple[str, str]]:
        if paths and all(map(_INTERNAL.fullmatch, paths)):
            yield _NOT_FACING, "tests, tools and CI alone"
        if paths and all(_DOCS.fullmatch(path) or path in documented for path in paths):
            yield "docs", "docs alone"
        for topic, pattern in _TOPIC_WORDS:
            if found := re.search(pattern, title, re.IGNORECASE):
                yield topic, f"the title says {found[0]!r}"

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(
            f"{what}: this tree has no {path}"
            for what, path in (("labels by path", LABELER), ("release notes", NOTES))
            if not self._source.content(path)
        )


def _kind(name: str) -> LabelKind:
    kinds: tuple[tuple[str, LabelKind], ...] = (
        (_NOTES, "release notes"),
        (_TOPIC, "topic"),
        ("ciflow/", "ci"),
        ("module: ", "module"),
    )
    return next((kind for start, kind in kinds if name.startswith(start)), "other")
