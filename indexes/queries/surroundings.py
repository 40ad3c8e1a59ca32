"""What stands around an operator, for its card: Python's names, what Inductor and export make of
it, its docs, tests and owners, each in a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from indexes.linking.facts import Link
from indexes.linking.python.around import around, owners, words_of
from indexes.linking.python.paths import NamedTest, tests_naming
from indexes.linking.python.ways import python_ways
from indexes.linking.registrations import around_dispatch
from indexes.model.surroundings import (
    AutocastPolicy,
    CoreAten,
    Counted,
    Decomposed,
    Inductor,
    InductorStatus,
    NamedPlace,
    Surroundings,
    TestCount,
)
from indexes.model.vocabulary import Location, NativeFunction, Role
from indexes.readers.project.codeowners_file import read_codeowners
from indexes.store.registrations import StoredPython, written_for

if TYPE_CHECKING:
    from indexes.queries.index import Index

_FALLBACK = "fallback"


def surroundings(index: Index, native: NativeFunction) -> Surroundings:
    """What stands around one overload, worked out from the index alone: no test file is read."""
    facts = index.facts
    python = StoredPython(facts.store)
    links = _by_role(around(native, python))
    beside = around_dispatch(native.full_name, written_for(facts, native.full_name), facts)
    dispatched = _by_role(beside)
    tables = tuple(_decompositions(links["decomposition"]))
    return Surroundings(
        python=_named(python_ways(native, python)),
        inductor=_inductor(links["registration"], tables),
        core=_core(native, tables),
        decompositions=tables,
        meta=_named(links["meta_registration"]),
        autocast=tuple(_policies(dispatched["autocast"])),
        batch_rule=next(iter(_named(dispatched["batch_rule"])), None),
        docs=_counted(links["docs"]),
        opinfo=_named(links["opinfo"]),
        tests=_tests(tests_naming(words_of(native, python), python, None, most=None)),
        owners=_owners(index, native),
    )


_Roles = dict[Role, list[Link]]
_USED: tuple[Role, ...] = (
    *("registration", "decomposition", "meta_registration", "docs", "opinfo"),
    *("autocast", "batch_rule"),
)


def _by_role(links: Iterable[Link]) -> _Roles:
    found: _Roles = {role: [] for role in _USED}
    for link in links:
        found.setdefault(link.role, []).append(link)
    return found


def _named(links: Iterable[Link]) -> tuple[NamedPlace, ...]:
    return tuple(dict.fromkeys(NamedPlace(link.symbol, link.location) for link in links))


def _counted(links: Sequence[Link]) -> Counted:
    return Counted(len(links), links[0].location if links else None)


def _tests(named: Sequence[NamedTest]) -> TestCount:
    first = Location(named[0].path, named[0].line, named[0].end_line) if named else None
    return TestCount(len({one.path for one in named}), len(named), first)


# ---------------------------------------------------------------- compilers and export


def _decompositions(links: Iterable[Link]) -> Iterator[Decomposed]:
    for link in links:
        table = link.rule.partition(" enters it in ")[2].partition(";")[0]
        yield Decomposed(link.symbol, link.location, (table.removeprefix("the table "),))


def _inductor(links: Iterable[Link], decomposed: Sequence[Decomposed]) -> Inductor:
    """What Inductor does: a decomposition comes before a lowering, and that before a fallback."""
    for one in decomposed:
        for table in one.tables:
            if table.startswith("torch._inductor"):
                return Inductor("decomposed", one.location, table)
    rows = [link for link in links if link.rule.startswith("register_lowering")]
    lowered = [link for link in rows if _FALLBACK not in link.note]
    for link in lowered or rows:
        status: InductorStatus = "lowered" if lowered else "fallback"
        return Inductor(status, link.location, "torch._inductor.lowering.lowerings")
    return Inductor("none")


def _core(native: NativeFunction, decomposed: Sequence[Decomposed]) -> CoreAten:
    if "core" in native.tags:
        line = native.field_lines.get("tags", native.location.line)
        return CoreAten(True, "yes", Location(native.location.path, line))
    if decomposed:
        return CoreAten(False, "no, decomposes", decomposed[0].location)
    return CoreAten(False, "no")


# -------------------------------------------------------------- dispatcher and owners


def _policies(links: Iterable[Link]) -> Iterator[AutocastPolicy]:
    for link in links:
        if link.note:
            device = link.keys[0].removeprefix("Autocast") or "CUDA"
            yield AutocastPolicy(device, link.note.removeprefix("policy "), link.location)


def _owners(index: Index, native: NativeFunction) -> tuple[str, ...]:
    path = index.source.locate("CODEOWNERS")
    if path is None:
        return ()
    rules, _ = read_codeowners(index.source.read(path), path)
    rows = index.facts.kernels(native.full_name)
    files = dict.fromkeys(d.location.path for row in rows for d in row.definitions)
    links = owners([native.location.path, *files], rules, path)
    return tuple(dict.fromkeys(name for link in links for name in link.symbol.split()))
