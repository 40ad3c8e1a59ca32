"""Operators outside aten, beside those that the running torch's dispatcher has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from indexes.model.vocabulary import NativeFunction
from indexes.queries.audit.report import Measure
from indexes.queries.index import Index

_LEAST = 0.99
_FAILING = ("/torch/_library/", "/torch/_prims/__init__.py:")
"""Where every custom operator and prim gets a kernel for Autograd that fails, unless it is given
another."""
_BAR = "at least 99 % with the line of their schema, where the tree is the torch's source"
_KEYS = "at least 99 %, where the tree is the torch's source"


@dataclass(frozen=True, slots=True)
class LiveOperator:
    """An operator as the dispatcher has it."""

    schema: str
    place: str
    """What registered it: ``/builder/torch/csrc/distributed/c10d/Ops.cpp:9``."""
    kernels: Mapping[str, str]
    """By key, what registered a kernel."""

    @property
    def in_python(self) -> bool:
        """Whether Python defined it."""
        return ".py:" in self.place


def library_measures(
    index: Index, live: Mapping[str, LiveOperator], same_version: bool
) -> Iterator[Measure]:
    """The operators, then their kernels by key. Where the tree is of another version, what is in
    both is compared, what is in one of them is listed, and nothing is judged."""
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
    """A schema without what each writes in its own way."""
    return schema.replace(" ", "").replace('"', "'")


def _kernels(index: Index, live: Mapping[str, LiveOperator], same: bool) -> Measure:
    wanted = {
        (name, key)
        for name, one in live.items()
        for key, place in one.kernels.items()
        if not (key == "Autograd" and any(map(place.__contains__, _FAILING)))
    }
    rows = [row for row in index.library_kernel_rows() if row.op in live]
    ours = {(row.op, row.key) for row in rows}
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
