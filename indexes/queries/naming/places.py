"""Places: ``SoftMax.cpp:303``, a line of a traceback, a file of the tree."""

from __future__ import annotations

from itertools import accumulate
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from indexes.model.answers import Hit, NameMatch, Place
from indexes.model.errors import NotFound
from indexes.model.vocabulary import Location
from indexes.queries.naming.query import NameQuery

if TYPE_CHECKING:
    from indexes.queries.index import Index


def find(query: NameQuery, index: Index) -> NameMatch | None:
    """The files of that name, and the operators that reach the line of the only one."""
    named = query.base if query.kind == "place" else query.raw.strip()
    paths = files_named(named, index)
    if not paths:
        return None
    hits = tuple(Hit("file", path, Location(path, query.line)) for path in paths)
    text = named + (f":{query.line}" if query.line else "")
    if len(paths) > 1:
        note = f"{named} names {len(paths)} files"
        return NameMatch("place", text, hits=hits, note=note, confidence="ambiguous")
    operators = dict.fromkeys(op for one in _standing(hits[0], index) for op in one.operators)
    return NameMatch("place", text, tuple(operators), hits)


def _standing(hit: Hit, index: Index) -> tuple[Place, ...]:
    """The innermost thing at a line."""
    try:
        return index.at(hit.location.path, hit.location.line)[:1] if hit.location.line else ()
    except NotFound:
        return ()


def files_named(path: str, index: Index) -> tuple[str, ...]:
    """The indexed files with this path, or whose path ends so, the shortest first; of a path in
    another checkout or in an installed torch, as in a traceback, the file that it ends like."""
    written = path.replace("\\", "/").removeprefix(f"{index.info.root}/")
    if not written.startswith("/"):
        return index.facts.paths_ending(written)
    ends = accumulate(reversed(PurePosixPath(written).parts[1:]), lambda end, part: f"{part}/{end}")
    for end in reversed([end for end in ends if "/" in end]):
        if found := index.facts.paths_ending(end):
            return found
    return ()
