"""Test files without an owner."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.tree import Tree

_UNKNOWN = "module: unknown"


def lacks(tree: Tree) -> str:
    paths = tree.index.facts.paths("test")
    if not paths:
        return "the test files are not in this source"
    there = any(True for _ in tree.index.facts.python.of_kinds("owner"))
    return "" if there else "the test files of this version name no owners"


def find(tree: Tree) -> Iterator[Gap]:
    """Test files whose header says that their owner is unknown."""
    for path, owner in tree.index.facts.python.of_kinds("owner"):
        if owner.symbol == _UNKNOWN:
            place = Location(path, owner.line)
            rule = f'"{_UNKNOWN}" stands in for the label of a module, by which failures'
            rule += " of its tests are assigned"
            yield Gap(place, f"{path} has no owner", rule, (place,), name=path, stated=True)


KINDS = (Kind("test-owner", "medium", "test files without an owner", find, lacks),)
