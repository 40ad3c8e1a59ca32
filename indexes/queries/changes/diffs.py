"""Edits that are known to the letter, as unified diffs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import unified_diff
from typing import NamedTuple

from indexes.model.vocabulary import Location
from indexes.queries.gaps.tree import Tree


class Edit(NamedTuple):
    """Lines ``first`` to ``last`` of a file become ``lines``; with ``last`` before ``first``
    nothing is replaced."""

    first: int
    last: int
    lines: tuple[str, ...]


def replaced(tree: Tree, where: Location, lines: Sequence[str]) -> tuple[str, ...]:
    """The diff that puts ``lines`` in place of the lines of a place."""
    last = max(where.line, where.end_line)
    return edited(tree, where.path, [Edit(where.line, last, tuple(lines))])


def inserted(tree: Tree, after: Location, lines: Sequence[str]) -> tuple[str, ...]:
    """The diff that puts ``lines`` after the last line of a place; with line 0 at the top."""
    last = max(after.line, after.end_line)
    return edited(tree, after.path, [Edit(last + 1, last, tuple(lines))])


def removed(tree: Tree, where: Location) -> tuple[str, ...]:
    """The diff without the lines of a place."""
    return replaced(tree, where, ())


def margin(text: str) -> str:
    """The white space that a line begins with."""
    return text[: len(text) - len(text.lstrip())]


def edited(tree: Tree, path: str, edits: Iterable[Edit]) -> tuple[str, ...]:
    """The diff of several edits of one file."""
    before = tree.lines(path)
    after = list(before)
    for edit in sorted(edits, reverse=True):
        after[edit.first - 1 : edit.last] = edit.lines
    return tuple(unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm=""))
