"""TODO and FIXME comments in kernels."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind, subject_of
from indexes.queries.gaps.tree import Tree


def find(tree: Tree) -> Iterator[Gap]:
    """One gap for each comment."""
    for place, words, _ in tree.kernel_remarks("todo"):
        yield _gap(tree, place, words)


def _gap(tree: Tree, place: Location, words: str) -> Gap:
    function = tree.function_at(place)
    op = tree.operator_of(function)
    name = function.name if function else place.path.rpartition("/")[2]
    subject = subject_of(function) if function else place.path
    rule = f"a {'FIXME' if 'FIXME' in words else 'TODO'} that the authors left in a kernel file"
    return Gap(place, words, rule, (place,), op, name, subject, stated=True)


KINDS = (Kind("todo", "easy", "TODO and FIXME in kernels", find, Tree.lacks_kernels, apart=True),)
