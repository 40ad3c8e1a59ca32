"""Places in the code of C++ files, and the functions that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.gaps.tree import Tree

_OTHERS = regex(r"third_party/|(?:^|/)(?:tests?|benchmarks?|examples?)/|_test\.\w+$")


def is_product(place: Location) -> bool:
    """Whether PyTorch's own people write a file, and it is no test."""
    return not _OTHERS.search(place.path)


def by_function(
    tree: Tree, found: Iterable[tuple[Location, str]]
) -> Iterator[tuple[Definition | None, list[tuple[Location, str]]]]:
    """(place, word) of each function; those of no function one by one."""
    placed = [(tree.definition_at(place), (place, word)) for place, word in found]
    for at, group in groupby(enumerate(placed), key=lambda pair: pair[1][0] or pair[0]):
        rows = [one for _, (_, one) in group]
        yield (at if isinstance(at, Definition) else None), rows
