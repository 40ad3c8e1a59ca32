"""Commits that added similar operators, and the files they touched, which shows recent practice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from indexes.model.regex import MULTILINE, regex
from indexes.model.schema import Schema
from indexes.model.vocabulary import NativeFunction
from indexes.queries.contribution.neighbours import Likeness, base_of
from indexes.queries.impact.rebuild import NATIVE
from indexes.readers.yaml.native_functions import read_native_functions
from indexes.source.git_history import Change, History

_COMMITS = 300
"""Changes of native_functions.yaml that are examined: about a year's."""
_CANDIDATES = 100
"""Most of them that added an operator."""
_LIKEST = 6
_HALF = 40
"""After so many additions one has half the weight."""
_MOST_FILES = 40
"""A commit with more files is no mere addition."""
_ADDED = regex(r"^\+(- func: .*)", MULTILINE)
_REMOVED = regex(r"^-- func: *(\w+)", MULTILINE)
_REVERT = regex(r"(?i)\brevert|back ?out")


@dataclass(frozen=True, slots=True)
class Precedent:
    """A commit that added operators."""

    change: Change
    operators: tuple[str, ...]
    """The added base names."""
    likeness: float
    """The similarity of the most similar one."""
    files: tuple[str, ...] = ()


def precedents(
    history: History, schema: Schema, natives: Sequence[NativeFunction]
) -> tuple[Precedent, ...]:
    """The recent commits that added the operators most similar to ``schema``, most similar and
    latest first; empty without a history."""
    found = list(_additions(history))[:_CANDIDATES]
    likeness = Likeness(schema, natives)
    precedents = [
        Precedent(
            change,
            tuple(dict.fromkeys(base_of(one.name) for one in added)),
            max(likeness.of(one).likeness for one in added),
        )
        for change, added in found
    ]
    recent = {one.change.commit: 0.5 ** (at / _HALF) for at, one in enumerate(precedents)}
    precedents.sort(key=lambda one: -one.likeness * recent[one.change.commit])
    return tuple(_with_files(history, precedents))[:_LIKEST]


def _with_files(history: History, precedents: Sequence[Precedent]) -> Iterator[Precedent]:
    likest = precedents[: 2 * _LIKEST]
    paths = history.paths([one.change for one in likest])
    for one in likest:
        files = paths.get(one.change.commit, ())
        if 0 < len(files) <= _MOST_FILES:
            yield replace(one, files=files)


def _additions(history: History) -> Iterator[tuple[Change, tuple[NativeFunction, ...]]]:
    """Each commit that added operators, with the first lines of their entries."""
    for change, diff in history.patches(NATIVE, _COMMITS):
        removed = {base_of(name) for name in _REMOVED.findall(diff)}
        text = "\n".join(_ADDED.findall(diff)).encode()
        added, _ = read_native_functions(text, NATIVE)
        fresh = tuple(one for one in added if base_of(one.name) not in removed)
        if fresh and not _REVERT.search(change.subject):
            yield change, fresh
