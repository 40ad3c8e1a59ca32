"""Uses in bodies that the index lacks: torch/csrc outside autograd, C++ tests. Files are read on
demand and resolved by the same rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache

from indexes.linking.edges import EdgeResolver
from indexes.linking.facts import Call, Edge, Known
from indexes.model.idioms import LOOPS
from indexes.queries.impact.facts import ImpactFacts
from indexes.readers.cxx.facts import keeps_whole_bodies, read_bodies
from indexes.store.scopes import ScopeFacts

_MOST_FILES = 150
"""Files read for one name."""


class UnreadBodies:
    """The edges of bodies that are read on demand."""

    def __init__(self, facts: ImpactFacts) -> None:
        self._facts = facts
        self._bodies = lru_cache(256)(self._read)

    @cached_property
    def _resolver(self) -> EdgeResolver:
        return EdgeResolver(ScopeFacts(self._facts.store))

    def edges_to(self, known: Known, unresolved: list[str]) -> Iterator[Edge]:
        """The edges to a definition; files not read are reported in ``told``."""
        name = known.definition.name
        wanted = (known.id, name) if name in LOOPS else (known.id,)
        files = list(self._facts.corpus.files_with(name, "cpp", _is_unread))
        if len(files) > _MOST_FILES:
            unresolved.append(
                f"{known.definition.qualified}: {len(files) - _MOST_FILES} more files of tests,"
                f" or outside of aten and autograd, have the word {name}: not searched"
            )
        named = (self._naming(name, path) for path in files[:_MOST_FILES])
        for caller, calls in (body for bodies in named for body in bodies):
            edges = self._resolver.edges(caller, calls)
            yield from (edge for edge in edges if edge.target in wanted)

    def edges_at(self, known: Known, line: int) -> list[Edge]:
        """The edges of one line of a definition."""
        bodies = self._bodies(known.definition.location.path)
        calls = (call for caller, calls in bodies if caller.id == known.id for call in calls)
        return self._resolver.edges(known, [call for call in calls if call.line == line])

    def _naming(self, name: str, path: str) -> Iterator[tuple[Known, list[Call]]]:
        for caller, calls in self._bodies(path):
            if named := [call for call in calls if call.name == name]:
                yield caller, named

    def _read(self, path: str) -> list[tuple[Known, list[Call]]]:
        facts = read_bodies(self._facts.corpus.text(path), path)
        places = {
            (one.definition.name, one.definition.location.line): one
            for one in self._facts.definitions_in(path)
        }
        found = ((places.get((one.name, one.line)), one.calls) for one in facts.definitions)
        return [(known, calls) for known, calls in found if known and calls]


def _is_unread(path: str) -> bool:
    return not keeps_whole_bodies(path)
