"""What is shown of the place that a change is modelled on."""

from __future__ import annotations

from indexes.model.vocabulary import Location
from indexes.queries.changes.model import Neighbour
from indexes.queries.gaps.tree import Tree

_LONGEST = 30
"""Lines that are shown where it isn't said how many."""


def neighbour(
    tree: Tree,
    name: str,
    why: str,
    where: Location,
    row: Location | None = None,
    word: str = "",
    most: int = _LONGEST,
) -> Neighbour:
    """An operator or function with the first of its lines, and how many more there are."""
    lines = tree.lines_of(where)
    return Neighbour(name, why, where, tuple(lines[:most]), max(0, len(lines) - most), row, word)
