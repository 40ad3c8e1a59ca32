"""Exact edits as unified diffs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import unified_diff
from typing import NamedTuple

from indexes.model.vocabulary import Location
from indexes.queries.changes.model import ChangeStep
from indexes.queries.gaps.tree import Tree

_CONTEXT = 3
"""Context lines of a diff."""


class Edit(NamedTuple):
    """Replaces lines ``first`` to ``last`` of a file by ``lines``; with ``last`` before ``first``
    it inserts."""

    first: int
    last: int
    lines: tuple[str, ...]


def replaced(tree: Tree, where: Location, lines: Sequence[str]) -> tuple[str, ...]:
    return edited(tree, where.path, [Edit(where.line, _last(where), tuple(lines))])


def inserted(tree: Tree, after: Location, lines: Sequence[str]) -> tuple[str, ...]:
    """The diff that inserts ``lines`` after a place; with line 0 at the top."""
    last = _last(after)
    return edited(tree, after.path, [Edit(last + 1, last, tuple(lines))])


_PAIR = 2


def in_order(lines: Sequence[str], row: Location, new: str) -> Location:
    """The row after which a new one stands by its text: as the row, the lines around are in the
    order of their texts; else the row itself."""
    at = row.line - 1
    around = [one for one in lines[max(0, at - 1) : at + 2] if one.endswith(",")]
    if _last(row) > row.line or len(around) < _PAIR or not _are_rows(around):
        return row
    while new < lines[at] and _are_rows(lines[at : at + 1]):
        at -= 1
    while at + 1 < len(lines) and lines[at + 1] < new and _are_rows(lines[at : at + 2]):
        at += 1
    return Location(row.path, at + 1)


def _are_rows(lines: Sequence[str]) -> bool:
    """Whether lines are elements of one list, in order."""
    ends = all(line.endswith(",") and margin(line) == margin(lines[0]) for line in lines)
    return ends and list(lines) == sorted(lines)


def removed(tree: Tree, where: Location) -> tuple[str, ...]:
    return replaced(tree, where, ())


def joined(tree: Tree, steps: Iterable[ChangeStep]) -> tuple[ChangeStep, ...]:
    """Steps that remove rows, with those near each other merged, since their contexts would
    overlap: for whatever reason each goes, all must apply."""
    groups: list[list[ChangeStep]] = []
    for step in steps:
        near = next(
            (some for some in groups if any(_are_near(tree, one, step) for one in some)), None
        )
        if near:
            near.append(step)
        else:
            groups.append([step])
    return tuple(_one(tree, group) if len(group) > 1 else group[0] for group in groups)


def _are_near(tree: Tree, one: ChangeStep, other: ChangeStep) -> bool:
    """Whether both remove just their own lines, and these are near each other."""
    first, second = sorted((one.location, other.location))
    near = first.path == second.path and second.line <= _last(first) + _CONTEXT
    both = near and one.action == other.action == "remove"
    return both and all(step.code == removed(tree, step.location) for step in (one, other))


def _last(where: Location) -> int:
    return max(where.line, where.end_line)


def _one(tree: Tree, group: Sequence[ChangeStep]) -> ChangeStep:
    places = sorted({step.location for step in group})
    edits = [Edit(one.line, _last(one), ()) for one in places]
    what = f"{group[0].what} ({len(places)} rows)"
    return replace(group[0], what=what, code=edited(tree, places[0].path, edits))


def margin(text: str) -> str:
    """The indentation of a line."""
    return text[: len(text) - len(text.lstrip())]


def edited(tree: Tree, path: str, edits: Iterable[Edit]) -> tuple[str, ...]:
    before = tree.lines(path)
    after = list(before)
    for edit in sorted(edits, reverse=True):
        after[edit.first - 1 : edit.last] = edit.lines
    return tuple(unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm=""))
