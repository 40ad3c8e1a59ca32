"""Places: ``SoftMax.cpp:303``, a line of a traceback, a file of the tree."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from pathlib import PurePosixPath

from indexes.model.answers import Hit, NameMatch, Place
from indexes.model.errors import NotFound
from indexes.model.vocabulary import Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.query import NameQuery
from indexes.queries.places import at


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The files of that name with what stands at the line, and the operators that reach the line
    of the only one."""
    named = query.base if query.kind == "place" else query.raw.strip()
    return _match(named, files_named(named, index), query, index)


def find_stem(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The files that are named so, whatever their ending."""
    return _match(query.base, index.facts.paths_with_stem(query.base), query, index)


def _match(
    named: str, paths: tuple[str, ...], query: NameQuery, index: IndexedTree
) -> NameMatch | None:
    if not paths:
        return None
    text = named + (f":{query.line}" if query.line else "")
    found = [
        (Location(path, query.line), _standing(path, query.line, index))
        for path in paths[:_LOOKED_AT]
    ]
    found += [(Location(path, query.line), ()) for path in paths[_LOOKED_AT:]]
    if len(paths) > 1:
        hits = tuple(_hit(*one) for one in found)
        note = f"{named} names {len(paths)} files"
        return NameMatch("place", text, hits=hits, note=note, confidence="ambiguous")
    ((where, places),) = found
    operators = dict.fromkeys(op for one in places for op in one.operators)
    hit = replace(_hit(where, places), op=None)
    return NameMatch("place", text, tuple(operators), (hit,))


_LOOKED_AT = 8
"""Files of a name of which is told what stands at the line."""


def _hit(where: Location, places: tuple[Place, ...]) -> Hit:
    """A line, with the name of what stands there and an operator that reaches it."""
    operators = [op for one in places for op in one.operators]
    detail = f"in {places[0].name}" if places else ""
    return Hit("file", where.path, where, detail, next(iter(operators), None))


def _standing(path: str, line: int, index: IndexedTree) -> tuple[Place, ...]:
    """The innermost thing at a line."""
    try:
        return at(index, path, line)[:1] if line else ()
    except NotFound:
        return ()


def files_named(path: str, index: IndexedTree) -> tuple[str, ...]:
    """The indexed files with this path, or whose path ends so, the shortest first; of a path in
    another checkout or in an installed torch, as in a traceback, the file that it ends like."""
    written = path.replace("\\", "/").removeprefix(f"{index.info.root}/")
    if not written.startswith("/"):
        found = index.facts.paths_ending(written)
        return tuple(path for path in found if path.endswith(written)) or found
    ends = accumulate(reversed(PurePosixPath(written).parts[1:]), lambda end, part: f"{part}/{end}")
    for end in reversed([end for end in ends if "/" in end]):
        if found := index.facts.paths_ending(end):
            return found
    return ()
