"""Test files that nobody looks after."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.tree import Tree

_OWNER = regex(r"^#\s*Owner\(s\):\s*\[([^\]\n]*)\]", MULTILINE)
_UNKNOWN = "module: unknown"


def lacks(tree: Tree) -> str:
    """Owners stand in the first lines of test files since 1.10."""
    paths = tree.index.facts.paths("test")
    if not paths:
        return "the test files are not in this source"
    there = any(_OWNER.search(tree.text(path)) for path in paths)
    return "" if there else "the test files of this version name no owners"


def find(tree: Tree) -> Iterator[Gap]:
    """Test files whose first lines say that their owner is unknown."""
    for path in tree.index.facts.paths("test"):
        text = tree.text(path)
        found = _OWNER.search(text)
        if found and _UNKNOWN in found[1]:
            place = Location(path, text.count("\n", 0, found.start()) + 1)
            rule = f'"{_UNKNOWN}" stands in for the label of a module, by which failures'
            rule += " of its tests are assigned"
            yield Gap(place, f"{path} has no owner", rule, (place,), name=path, stated=True)


KINDS = (Kind("test-owner", "easy", "test files without an owner", find, lacks),)
