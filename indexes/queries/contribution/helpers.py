"""Functions that the kernels of an operator use and little else does, where its shapes are checked
and its loops stand; and those that call its kernels or itself, as little else does. A change of the
operator is often a change of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from indexes.linking.facts import TO_DEFINITIONS, TO_OPERATORS, Known
from indexes.model.vocabulary import Definition, Location
from indexes.queries.contribution.steps import Step
from indexes.store.lookup import Lookup

_MAX_USERS = 4
"""With more using files, a function belongs to no operator."""
_MAX_DEPTH = 3
_MAX_FILES = 6
HEADERS = (".h", ".cuh", ".hpp")
_CALLS = TO_DEFINITIONS | TO_OPERATORS


class Helper(NamedTuple):
    """A function that kernels use."""

    definition: Definition
    caller: str
    users: int
    """The number of files that use it."""
    depth: int
    """The number of calls from the kernel to it."""


def helpers(facts: Lookup, kernels: Iterable[Location]) -> list[Helper]:
    """The helpers of functions at some places in the same folders, one per file, nearest first."""
    starts = [one for place in kernels for one in definitions_at(facts, place)]
    own = {one.definition.location.path for one in starts}
    folders = {PurePosixPath(path).parent for path in own}
    first: dict[str, Helper] = {}
    for one in sorted(_walk(facts, starts), key=lambda helper: (helper.depth, helper.users)):
        path = one.definition.location.path
        if path not in own and PurePosixPath(path).parent in folders:
            first.setdefault(path, one)
    return list(first.values())[:_MAX_FILES]


def callers(
    facts: Lookup, places: Iterable[Location], ops: Iterable[str] = (), most: int = _MAX_USERS
) -> Iterator[Step]:
    """The functions in other files that call those at some places, or some operators by name, where
    at most so many files do: they rely on the names, arguments and results of these."""
    known = {one.id: one.definition for place in places for one in definitions_at(facts, place)}
    seen = {one.location.path for one in known.values()}
    named = {target: one.name for target, one in known.items()} | {op: op for op in ops}
    for target, name in named.items():
        few = facts.files_using(target) <= most
        for edge in facts.edges_to(target) if few else ():
            caller = facts.by_id(edge.caller) if edge.kind in _CALLS else None
            if caller and caller.definition.location.path not in seen:
                seen.add(caller.definition.location.path)
                rule, own = f"calls {name} at line {edge.line}", caller.definition
                yield Step("caller", own.qualified, own.location, rule)


def header_of(facts: Lookup, path: str) -> str:
    """The header of the same name that declares a source's functions; may be empty."""
    names = (f"{path.rpartition('.')[0]}{end}" for end in HEADERS)
    there = facts.paths("cpp", f"{path.rpartition('.')[0]}.%")
    return next((one for one in names if one in there and one != path), "")


def definitions_at(facts: Lookup, place: Location) -> list[Known]:
    """The definitions that begin at a place."""
    found = facts.definitions_at(place.path, place.line)
    return [one for one in found if one.definition.location.line == place.line]


def _walk(facts: Lookup, starts: Iterable[Known]) -> Iterator[Helper]:
    """The callees of functions, level by level, continuing below rarely used ones only."""
    level = {one.id: one for one in starts}
    seen = set(level)
    for depth in range(1, _MAX_DEPTH + 1):
        below: dict[int, Known] = {}
        for caller in level.values():
            for called in _called(facts, caller):
                users = 0 if called.id in seen else facts.files_using(called.id)
                seen.add(called.id)
                if 0 < users <= _MAX_USERS:
                    below[called.id] = called
                    yield Helper(called.definition, caller.definition.qualified, users, depth)
        level = below


def _called(facts: Lookup, caller: Known) -> Iterator[Known]:
    edges = (edge for edge in facts.edges(caller.id) if edge.kind in TO_DEFINITIONS)
    return filter(None, (facts.by_id(int(edge.target)) for edge in edges))
