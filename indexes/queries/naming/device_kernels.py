"""Names of device kernels as profilers print them: what a launcher runs stands in its template
arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexes.model.answers import Hit, NameMatch
from indexes.model.errors import NotFound
from indexes.model.vocabulary import Location
from indexes.queries.naming.cxx import definition_hit
from indexes.queries.naming.errors import operator_hits
from indexes.queries.naming.query import NameQuery

if TYPE_CHECKING:
    from indexes.queries.index import Index


def with_source(found: NameMatch, query: NameQuery, index: Index) -> NameMatch:
    """A ``__global__`` function, behind the functor or lambda that this name of it runs, and the
    operators that reach it. Functions of the host that are called alike stand below the kernel,
    and are left out where only a kernel is spelled so."""
    kernels = [hit for hit in found.hits if hit.kind == "__global__"]
    others = [hit for hit in found.hits if hit.kind != "__global__"]
    if not kernels:
        return found
    answer = index.kernel_name(query.raw.strip()) if "<" in query.raw else None
    if answer is None or answer.source is None:
        places = {hit.location: None for hit in kernels}
        reached = _reaching(index, *places) if len(places) == 1 else []
        return replace(found, hits=(*kernels, *reached, *others))
    source = answer.source
    own = [hit for hit in kernels if hit.location != source.location]
    hits = (definition_hit(source), *own, *_reaching(index, source.location))
    return replace(found, hits=hits, note=answer.rule, confidence=answer.confidence)


def of_library(query: NameQuery, index: Index) -> NameMatch | None:
    """A name that no source of the tree defines, but that is spelled as a library's kernels are."""
    answer = index.kernel_name(query.raw.strip())
    if answer.source or answer.launcher or not answer.library:
        return None
    note = f"a device kernel of {answer.library}: {answer.rule}; {answer.reason}"
    return NameMatch("symbol", query.raw.strip(), note=note, confidence=answer.confidence)


def _reaching(index: Index, where: Location) -> list[Hit]:
    """The operators that reach the function at a place."""
    try:
        places = index.at(where.path, where.line)
    except NotFound:
        return []
    names = next((place.operators for place in places if place.operators), ())
    return operator_hits(index, names)
