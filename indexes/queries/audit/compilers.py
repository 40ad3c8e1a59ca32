"""Checks of what stands around operators against the running torch: Inductor's lowerings, tables of
decompositions, OpInfos."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from indexes.linking.python.around import opinfo_entries
from indexes.linking.python.compilers import CORE, INDUCTOR, Compilers
from indexes.model.files import unpack
from indexes.model.vocabulary import NativeFunction
from indexes.queries.audit.report import Measure
from indexes.queries.index import Index
from indexes.store.registrations import StoredPython


@dataclass(frozen=True, slots=True)
class LiveCompilers:
    """What the installed torch says to compilers. Overloads are ``aten::add.Tensor``,
    ``aten::relu.default``."""

    lowerings: Mapping[str, bool]
    """Inductor's, each with whether it is a fallback."""
    core: frozenset[str]
    """The operators of ``core_aten_decompositions()``."""
    inductor: frozenset[str]
    """The operators of Inductor's table of decompositions."""
    opinfos: frozenset[tuple[str, str, str]] | None
    """Name, variant and the operator of each entry of ``op_db``; None where torch's tests lack
    something that they need."""


def compiler_measures(index: Index, live: LiveCompilers) -> Iterator[Measure]:
    """Each measure as it is done, over the operators of native_functions.yaml."""
    python = StoredPython(index.facts.store)
    natives = {_target(native): native for native in index.all_natives()}
    ours = {target: Compilers(native, python) for target, native in natives.items()}
    yield _lowerings(ours, live.lowerings)
    yield _table("core ATen's decompositions", CORE, ours, live.core)
    yield _table("Inductor's decompositions", INDUCTOR, ours, live.inductor)
    if live.opinfos is not None:
        yield _opinfos(natives, python, live.opinfos)


def _target(native: NativeFunction) -> str:
    return f"aten::{native.name}.{native.overload or 'default'}"


def _lowerings(ours: Mapping[str, Compilers], live: Mapping[str, bool]) -> Measure:
    """Lowerings and fallbacks, each as what it is; those under a condition may be absent."""
    wanted = {target: fallback for target, fallback in live.items() if target in ours}
    short = []
    counts = dict.fromkeys(("found", "missed", "another kind", "conditional", "wrong"), 0)
    for target, compilers in ours.items():
        found = compilers.registered
        verdict = "found"
        if target not in wanted:
            verdict = "conditional" if found and found.note else "wrong"
        elif found is None:
            verdict = "missed"
        elif (found.status == "fallback") is not wanted[target]:
            verdict = "another kind"
        if target in wanted or found:
            counts[verdict] += 1
            short += [] if verdict in ("found", "conditional") else [f"{target}: {verdict}"]
    return _measure("Inductor's lowerings and fallbacks", len(wanted), counts, short)


def _table(name: str, table: str, ours: Mapping[str, Compilers], live: frozenset[str]) -> Measure:
    """The operators of a table. Composite ones it takes by rule: they count apart."""
    counts = dict.fromkeys(("found", "composite", "missed", "wrong"), 0)
    short = []
    for target, compilers in ours.items():
        held, there = table in compilers.tables, target in live
        if not held and not there:
            continue
        verdict = "found" if held and there else "wrong" if held else "missed"
        if verdict == "missed" and compilers.is_composite:
            verdict = "composite"
        counts[verdict] += 1
        short += [] if verdict in ("found", "composite") else [f"{target}: {verdict}"]
    return _measure(name, len(live & ours.keys()), counts, short)


def _opinfos(
    natives: Mapping[str, NativeFunction],
    python: StoredPython,
    live: frozenset[tuple[str, str, str]],
) -> Measure:
    """The operators that each OpInfo tests, by the names that it gives itself."""
    known: dict[str, set[tuple[str, str]]] = {}
    for native in natives.values():
        entries = (fact for (_, fact), _ in opinfo_entries(native, python))
        pairs = {(one.symbol, unpack(one.detail).get("variant", "")) for one in entries}
        known.setdefault(native.name, set()).update(pairs)
    wanted = [one for one in sorted(live) if one[2] in known]
    short = [f"{n} {v} for {op}: missed" for n, v, op in wanted if (n, v) not in known[op]]
    counts = {"found": len(wanted) - len(short), "missed": len(short)}
    return _measure("OpInfos and the operators that they test", len(wanted), counts, short)


def _measure(name: str, total: int, counts: Mapping[str, int], short: list[str]) -> Measure:
    good = counts.get("found", 0) + counts.get("composite", 0)
    met = good >= 0.99 * total and not counts.get("wrong") if total else None
    return Measure(name, "at least 99 %, none wrong", total, counts, met, tuple(short))
