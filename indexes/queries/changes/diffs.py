"""Edits that are known to the letter, as unified diffs."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING

from indexes.model.vocabulary import Location

if TYPE_CHECKING:
    from indexes.queries.gaps.tree import Tree


def replaced(tree: Tree, where: Location, lines: Sequence[str]) -> tuple[str, ...]:
    """The diff that puts ``lines`` in place of the lines of a place."""
    return _diff(tree, where.path, where.line, max(where.line, where.end_line), lines)


def inserted(tree: Tree, after: Location, lines: Sequence[str]) -> tuple[str, ...]:
    """The diff that puts ``lines`` after the last line of a place; with line 0 at the top."""
    last = max(after.line, after.end_line)
    return _diff(tree, after.path, last + 1, last, lines)


def removed(tree: Tree, where: Location) -> tuple[str, ...]:
    """The diff without the lines of a place."""
    return replaced(tree, where, ())


def _diff(tree: Tree, path: str, first: int, last: int, lines: Sequence[str]) -> tuple[str, ...]:
    before = tree.lines(path)
    after = [*before[: first - 1], *lines, *before[last:]]
    return tuple(unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm=""))
