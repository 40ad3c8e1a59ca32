"""The rows of the operator list, made once when operators are linked."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

from indexes.linking.kernel_rows import Kernels
from indexes.model.vocabulary import NativeFunction
from indexes.store.definition_rows import DEFINITION_FROM
from indexes.store.index_file import Store

_CHUNK = 500
_NO_ENTRY = ("null", "[null,")
"""How the text begins of what differentiates an overload, where no entry does."""
_encode = json.JSONEncoder(separators=(",", ":")).encode


Native = Callable[[str], NativeFunction]


def keep_all_summaries(store: Store, native: Native, kernels: Kernels) -> None:
    """Makes the summaries of all operators. ``native`` gives an overload by its full name."""
    _keep(store, native, kernels, store.query("SELECT full_name,derivative FROM ops"))


def keep_summaries(store: Store, native: Native, ops: Collection[str]) -> None:
    """Makes the summaries of some operators anew from what is linked now."""
    if len(ops) > _CHUNK:
        rows = store.query("SELECT full_name,derivative FROM ops")
        _keep(store, native, _linked(store, "", ()), rows)
    elif ops:
        chosen = f"IN ({','.join('?' * len(ops))})"
        kernels = _linked(store, f"WHERE op {chosen}", tuple(ops))
        sql = f"SELECT full_name,derivative FROM ops WHERE full_name {chosen}"
        _keep(store, native, kernels, store.query(sql, tuple(ops)))


def _keep(store: Store, native: Native, kernels: Kernels, rows: list[tuple[Any, ...]]) -> None:
    store.db.executemany(
        "UPDATE ops SET summary=? WHERE full_name=?",
        [
            (summary(native(n), _has_formula(derivative), kernels.get(n, [])), n)
            for n, derivative in rows
        ],
    )


def _has_formula(derivative: str) -> bool:
    return bool(derivative) and not derivative.startswith(_NO_ENTRY)


def _linked(store: Store, where: str, ops: tuple[str, ...]) -> Kernels:
    """The kernels that are linked by now."""
    rows = [
        (op, key, [int(number) for number in (numbers or "").split(",") if number])
        for op, key, numbers in store.query(
            f"SELECT op,key,definitions FROM kernels {where} ORDER BY rowid", ops
        )
    ]
    paths = _paths(store, {number for *_, listed in rows for number in listed})
    kernels: Kernels = {}
    for op, key, listed in rows:
        kernels.setdefault(op, []).append((key, [paths[n] for n in listed if n in paths]))
    return kernels


def _paths(store: Store, numbers: set[int]) -> dict[int, str]:
    """The files of definitions by number."""
    ordered = sorted(numbers)
    paths: dict[int, str] = {}
    for start in range(0, len(ordered), _CHUNK):
        chunk = ordered[start : start + _CHUNK]
        marks = ",".join("?" * len(chunk))
        sql = f"SELECT d.id,f.path FROM {DEFINITION_FROM}"
        paths.update(store.query(f"{sql} WHERE d.id IN ({marks})", chunk))
    return paths


def summary(native: NativeFunction, has_formula: bool, kernels: list[tuple[str, list[str]]]) -> str:
    """What the operator list shows of an overload, as it is kept."""
    location = native.location
    values = (
        native.schema,
        (location.path, location.line, location.end_line),
        tuple(dict.fromkeys([key for key, _ in kernels])),
        native.tags,
        native.python_module,
        has_formula,
        _kind(native, kernels),
        tuple(dict.fromkeys([path for _, listed in kernels for path in listed])),
    )
    return _encode(values)


def _kind(native: NativeFunction, kernels: list[tuple[str, list[str]]]) -> str:
    if "generated" in native.tags:
        return "autogen"
    if native.not_understood:
        return "unknown"
    if native.structured:
        return "structured"
    if native.structured_delegate:
        return "delegate"
    if not kernels:
        return "no kernel"
    if all(key.startswith("Composite") for key, _ in kernels):
        return "composite"
    return "plain"
