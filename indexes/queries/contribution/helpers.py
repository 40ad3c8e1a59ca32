"""Functions that the kernels of an operator use and little else does, where its shapes are checked
and its loops stand; and those that call its kernels or itself, as little else does. A change of the
operator is often a change of these."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from indexes.linking.facts import TO_DEFINITIONS, TO_OPERATORS, Known
from indexes.model.vocabulary import Definition, Location
from indexes.queries.contribution.steps import Step
from indexes.store.lookup import Lookup

MAX_USERS = 4
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


def helper_steps(
    facts: Lookup, places: Sequence[Location], kernels: Iterable[Location]
) -> Iterator[Step]:
    """The helpers of an operator's functions with their headers, and the headers of what its
    kernels share."""
    for one in helpers(facts, places):
        rule = f"{one.caller} leads to it; functions of {_files(one.users)} do"
        where = one.definition.location
        yield Step("helper", one.definition.qualified, where, rule)
        if header := header_of(facts, where.path):
            yield _header(header, f"the header of {where.path}")
    for header, one in shared_headers(facts, kernels, {place.path for place in places}).items():
        name = one.definition.name
        yield _header(header, f"declares {name}, which {one.caller} calls in another file")


def _header(path: str, rule: str) -> Step:
    return Step("helper", PurePosixPath(path).name, Location(path, 1), rule)


def _files(count: int) -> str:
    return "one file" if count == 1 else f"{count} files"


def callers(
    facts: Lookup, places: Iterable[Location], ops: Iterable[str] = (), most: int = MAX_USERS
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


def shared_headers(
    facts: Lookup, kernels: Iterable[Location], own: Collection[str]
) -> dict[str, Helper]:
    """The headers by which kernels call functions in other files of their operator, as one for a
    GPU calls what it has in common with the CPU's, where little else calls them."""
    found: dict[str, Helper] = {}
    for caller in (one for place in kernels for one in definitions_at(facts, place)):
        name, where = caller.definition.qualified, caller.definition.location
        for called in _called(facts, caller):
            path, users = called.definition.location.path, facts.files_using(called.id)
            header = header_of(facts, path) if path in own and path != where.path else ""
            if header and users <= MAX_USERS:
                found.setdefault(header, Helper(called.definition, name, users, 1))
    return found


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
                users = 0 if called.id in seen else _users(facts, called)
                seen.add(called.id)
                if 0 < users <= MAX_USERS:
                    below[called.id] = called
                    yield Helper(called.definition, caller.definition.qualified, users, depth)
        level = below


def _users(facts: Lookup, called: Known) -> int:
    """The files that use a function: a kernel also by the name of its operator."""
    own = facts.files_using(called.id)
    names = {op.partition(".")[0] for op in facts.kernel_of(called)} if own <= MAX_USERS else ()
    ops = (one.full_name for name in names for one in facts.overloads(name))
    return own + sum(map(facts.files_using, ops))


def _called(facts: Lookup, caller: Known) -> Iterator[Known]:
    edges = (edge for edge in facts.edges(caller.id) if edge.kind in TO_DEFINITIONS)
    return filter(None, (facts.by_id(int(edge.target)) for edge in edges))
