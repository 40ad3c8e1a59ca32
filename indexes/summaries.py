"""Rows of the operator list, made from the index."""

from __future__ import annotations

import json
from typing import Any

from indexes.model import Location, OperatorSummary
from indexes.store import Store

_COLUMNS = "o.full_name,o.data,o.derivative"
_KERNELS = "SELECT op,key,definitions FROM kernels"


def all_summaries(store: Store) -> tuple[OperatorSummary, ...]:
    """Every overload in YAML order."""
    paths = dict(
        store.query("SELECT d.id,f.path FROM definitions d JOIN files f ON f.id=d.file"
                    " WHERE d.kind IN ('function','impl_func','meta_func')")
    )  # fmt: skip
    kernels: dict[str, list[tuple[str, str]]] = {}
    for op, key, numbers in store.query(_KERNELS + " ORDER BY rowid"):
        kernels.setdefault(op, []).append((key, numbers or ""))
    rows = store.query(f"SELECT {_COLUMNS} FROM ops o ORDER BY o.position")
    return tuple(_summary(r, kernels.get(r[0], []), paths) for r in rows)


def one_summary(store: Store, full_name: str) -> OperatorSummary | None:
    """One overload; None when there is none of that name."""
    rows = store.query(f"SELECT {_COLUMNS} FROM ops o WHERE o.full_name=?", (full_name,))
    if not rows:
        return None
    kernels = [(k, n or "") for _, k, n in store.query(_KERNELS + " WHERE op=?", (full_name,))]
    numbers = {int(n) for _, listed in kernels for n in listed.split(",") if n}
    marks = ",".join("?" * len(numbers))
    paths = dict(
        store.query(
            "SELECT d.id,f.path FROM definitions d JOIN files f ON f.id=d.file"
            f" WHERE d.id IN ({marks})",
            tuple(numbers),
        )
    )
    return _summary(rows[0], kernels, paths)


def _summary(
    row: tuple[Any, ...], kernels: list[tuple[str, str]], paths: dict[int, str]
) -> OperatorSummary:
    full_name, data, derivative = row
    native = json.loads(data)
    numbers = (int(n) for _, listed in kernels for n in listed.split(",") if n)
    files = tuple(dict.fromkeys(paths[n] for n in numbers if n in paths))
    derived = json.loads(derivative) if derivative else None
    return OperatorSummary(
        full_name,
        native["schema"],
        Location(**native["location"]),
        tuple(dict.fromkeys(key for key, _ in kernels)),
        tuple(native["tags"]),
        native["python_module"],
        bool(derived and derived[0] is not None),
        _kind(native, kernels),
        files,
    )


def _kind(native: dict[str, Any], kernels: list[tuple[str, str]]) -> str:
    if "generated" in native["tags"]:
        return "autogen"
    if native["structured"]:
        return "structured"
    if native["structured_delegate"]:
        return "delegate"
    if not kernels:
        return "no kernel"
    if all(key.startswith("Composite") for key, _ in kernels):
        return "composite"
    return "plain"
