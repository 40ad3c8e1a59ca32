"""What stands around an operator, for its card: Python's names, what Inductor and export make of
it, its docs and tests, each in a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from indexes.codegen.variants import signature_of
from indexes.linking.facts import Link
from indexes.linking.python.around import python_ways, registered, words_of
from indexes.linking.python.compilers import Compilers
from indexes.linking.python.paths import NamedTest, named_tests
from indexes.linking.registrations import around_dispatch
from indexes.model.surroundings import (
    AutocastPolicy,
    Counted,
    Inductor,
    NamedPlace,
    Surroundings,
    TestCount,
)
from indexes.model.vocabulary import Location, NativeFunction, Role
from indexes.readers.yaml.schema import SchemaKind, parse_schema
from indexes.store.registrations import StoredPython, written_for

if TYPE_CHECKING:
    from indexes.queries.index import Index


def surroundings(index: Index, native: NativeFunction) -> Surroundings:
    """What stands around one overload. The tests are those named for it that call it."""
    facts = index.facts
    python = StoredPython(facts.store)
    links = _by_role(registered(native, python))
    beside = around_dispatch(native.full_name, written_for(facts, native.full_name), facts)
    dispatched = _by_role(beside)
    compilers = Compilers(native, python)
    return Surroundings(
        python=_named(python_ways(native, python)),
        inductor=_inductor(index, native, compilers),
        core=compilers.core(),
        decompositions=compilers.decompositions(),
        meta=_named(links["meta_registration"]),
        autocast=tuple(_policies(dispatched["autocast"])),
        batch_rule=next(iter(_named(dispatched["batch_rule"])), None),
        docs=_counted(links["docs"]),
        opinfo=_named(links["opinfo"]),
        tests=_tests(named_tests(words_of(native, python), python)),
    )


_Roles = dict[Role, list[Link]]
_USED: tuple[Role, ...] = (*("meta_registration", "docs", "opinfo", "autocast", "batch_rule"),)


def _by_role(links: Iterable[Link]) -> _Roles:
    found: _Roles = {role: [] for role in _USED}
    for link in links:
        found.setdefault(link.role, []).append(link)
    return found


def _named(links: Iterable[Link]) -> tuple[NamedPlace, ...]:
    return tuple(dict.fromkeys(NamedPlace(link.symbol, link.location) for link in links))


def _counted(links: Sequence[Link]) -> Counted:
    return Counted(len(links), links[0].location if links else None)


def _how_far(test: NamedTest) -> tuple[bool, int, int]:
    name = test.symbol.rpartition(".")[2]
    return not test.qualified, test.path.count("/"), len(name)


def _tests(named: Sequence[NamedTest]) -> TestCount:
    """How many, and one to begin with: near the top of the tree, with little else in its name."""
    if not named:
        return TestCount()
    first = min(named, key=_how_far)
    where = Location(first.path, first.line, first.end_line)
    return TestCount(len({one.path for one in named}), len(named), where)


# ------------------------------------------------------------------- compilers


def _inductor(index: Index, native: NativeFunction, compilers: Compilers) -> Inductor:
    """What Inductor does. It gets graphs of functional operators, so that an in-place or out=
    overload without anything of its own is as its functional one."""
    own = compilers.inductor()
    functional = _functional(index, native) if own.status == "none" else None
    if functional is None:
        return own
    found = Compilers(functional, StoredPython(index.facts.store)).inductor()
    if found.status == "none":
        return own
    return replace(found, note=f"as {functional.full_name}, once functionalized")


def _functional(index: Index, native: NativeFunction) -> NativeFunction | None:
    schema = parse_schema(native.schema)
    if schema.kind is SchemaKind.FUNCTIONAL:
        return None
    signature = signature_of(native)
    for other in index.facts.overloads(native.space + schema.base):
        is_functional = parse_schema(other.schema).kind is SchemaKind.FUNCTIONAL
        if is_functional and signature_of(other) == signature:
            return other
    return None


# -------------------------------------------------------------- dispatcher


def _policies(links: Iterable[Link]) -> Iterator[AutocastPolicy]:
    for link in links:
        if link.note:
            device = link.keys[0].removeprefix("Autocast") or "CUDA"
            yield AutocastPolicy(device, link.note.removeprefix("policy "), link.location)
