"""Checks against the running torch: lowerings, tables of decompositions, OpInfos, operators of
libraries, Python names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from indexes.linking.python.compilers import CORE, INDUCTOR, Compilers
from indexes.linking.python.links import opinfo_entries
from indexes.model.files import unpack
from indexes.model.vocabulary import NativeFunction
from indexes.queries.audit.measure import Measure
from indexes.queries.index import Index
from indexes.queries.python_names.finding import finder_of
from indexes.store.registrations import StoredPython


@dataclass(frozen=True, slots=True)
class LiveCompilers:
    """The installed torch's compiler registries. Overloads are ``aten::add.Tensor``,
    ``aten::relu.default``."""

    lowerings: Mapping[str, bool]
    """Inductor's, each with whether it is a fallback."""
    core: frozenset[str]
    """The operators of ``core_aten_decompositions()``."""
    inductor: frozenset[str]
    """The operators of Inductor's decompositions."""
    opinfos: frozenset[tuple[str, str, str]] | None
    """Name, variant and operator of each entry in ``op_db``; None if torch's tests cannot be
    imported."""


def compiler_measures(index: Index, live: LiveCompilers) -> Iterator[Measure]:
    """Each measure as it is done, over native_functions.yaml."""
    python = index.facts.python
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
    """Lowerings and fallbacks; conditional ones may be absent."""
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
    """The operators of a table; composite ones, which it takes by rule, are counted separately."""
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


_LEAST = 0.99
_FAILING = ("/torch/_library/", "/torch/_prims/__init__.py:")
"""The key with a failing default kernel for custom operators and prims."""
_BAR = "at least 99 % with the line of their schema, where the tree is the torch's source"
_KEYS = "at least 99 %, where the tree is the torch's source"


@dataclass(frozen=True, slots=True)
class LiveOperator:
    """An operator as the dispatcher has it."""

    schema: str
    place: str
    """Its registration: ``/builder/torch/csrc/distributed/c10d/Ops.cpp:9``."""
    kernels: Mapping[str, str]
    """The registration of each key's kernel."""

    @property
    def in_python(self) -> bool:
        return ".py:" in self.place


def library_measures(
    index: Index, live: Mapping[str, LiveOperator], same_version: bool
) -> Iterator[Measure]:
    """The operators, then their kernels by key. For another version, common ones are compared,
    others listed, and nothing is judged."""
    # Higher-order operators are Python's alone.
    every = (one for one in index.library_operators() if one.space != "higher_order::")
    ours = {one.full_name: one for one in every}
    if index.source.kind == "wheel":  # has no C++ source
        live = {name: one for name, one in live.items() if one.in_python}
    yield _operators(ours, live, same_version)
    yield _kernels(index, {name: one for name, one in live.items() if name in ours}, same_version)


def _operators(
    ours: Mapping[str, NativeFunction], live: Mapping[str, LiveOperator], same: bool
) -> Measure:
    found = [name for name in live if name in ours]
    absent = [name for name in live if name not in ours]
    more = [name for name in ours if name not in live]
    differing = [
        name for name in found if _spelled(live[name].schema) != _spelled(ours[name].schema)
    ]
    counts = {
        "found": len(found),
        "only in the torch": len(absent),
        "only in the tree": len(more),
        "other schema": len(differing),
    }
    short = [f"{name}: only in the torch, {live[name].place}" for name in absent]
    short += [f"{name}: {ours[name].schema}, not {live[name].schema}" for name in differing]
    met = len(found) >= _LEAST * len(live) if same and live else None
    return Measure("operators outside aten", _BAR, len(live), counts, met, tuple(short))


def _spelled(schema: str) -> str:
    """A schema without differences in spelling."""
    return schema.replace(" ", "").replace('"', "'")


def _kernels(index: Index, live: Mapping[str, LiveOperator], same: bool) -> Measure:
    rows = [row for row in index.library_kernel_rows() if row.op in live]
    ours = {(row.op, row.key) for row in rows}
    wanted = {
        (name, key)
        for name, one in live.items()
        for key, place in one.kernels.items()
        if (name, key) in ours or not (key == "Autograd" and any(map(place.__contains__, _FAILING)))
    }
    missed, more = sorted(wanted - ours), sorted(ours - wanted)
    placed = sum(bool(row.definitions) for row in rows)
    counts = {
        "found": len(wanted & ours),
        "missed": len(missed),
        "only in the tree": len(more),
        "rows with a definition": placed,
        "rows without": len(rows) - placed,
    }
    short = [f"{op} {key}: registered at {live[op].kernels[key]}" for op, key in missed]
    short += [f"{op} {key}: not in this build of the torch" for op, key in more]
    met = len(missed) <= (1 - _LEAST) * len(wanted) if same and wanted else None
    return Measure("their kernels by key", _KEYS, len(wanted), counts, met, tuple(short))


Spot = tuple[str, int]
"""Path in the tree, and line."""


@dataclass(frozen=True, slots=True)
class LiveNames:
    """The public names of an installed torch."""

    version: str
    names: Mapping[str, Spot]
    """The lines of public classes and functions."""
    methods: Mapping[str, Spot]
    """The lines of these classes' methods."""


def documented(index: Index) -> set[str]:
    """The Python names in the tree's documentation, if any."""
    pages = index.facts.python.of_kinds("page")
    return {fact.target for _, fact in pages if fact.target.startswith("torch.")}


def python_measures(index: Index, live: LiveNames) -> Iterator[Measure]:
    """Names and methods, by whether their definition is found at Python's line."""
    yield _compared(index, f"public Python names of torch {live.version}", live.names)
    yield _compared(index, "methods of their classes, inherited ones too", live.methods)


def _compared(index: Index, name: str, wanted: Mapping[str, Spot]) -> Measure:
    finder = finder_of(index)
    counts: Counter[str] = Counter({"right": 0, "wrong": 0, "not found": 0})
    short = []
    for one, spot in wanted.items():
        answer = finder.find(one)
        where = answer.location if answer else None
        found = (where.path, where.line) if where else None
        verdict = "right" if found == spot else "wrong" if found else "not found"
        counts[verdict] += 1
        if verdict != "right":
            short.append(f"{verdict}: {one}: {where or 'nothing'}, not {spot[0]}:{spot[1]}")
    total = len(wanted)
    met = counts["right"] >= 0.97 * total and counts["wrong"] <= 0.005 * total if total else None
    bar = "at least 97 % right, at most 0.5 % wrong"
    return Measure(name, bar, total, counts, met, tuple(sorted(short, reverse=True)))
