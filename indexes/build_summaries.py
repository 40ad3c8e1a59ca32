"""The rows of the operator list, made once when operators are linked."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

from indexes.model import NativeFunction
from indexes.rows_sql import DEFINITION_FROM
from indexes.store import Store

_CHUNK = 500
_NO_ENTRY = ("null", "[null,")
"""How the text begins of what differentiates an overload, where no entry does."""
_encode = json.JSONEncoder(separators=(",", ":")).encode


Native = Callable[[str], NativeFunction]


def keep_summaries(store: Store, native: Native, ops: Collection[str] | None = None) -> None:
    """Makes the summaries of all operators, or of some, anew from what is linked now.

    ``native`` gives an overload by its full name."""
    if ops is None or len(ops) > _CHUNK:
        _keep(store, native, "", ())
    elif ops:
        _keep(store, native, f"({','.join('?' * len(ops))})", tuple(ops))


def _keep(store: Store, native: Native, chosen: str, ops: tuple[str, ...]) -> None:
    kernels: dict[str, list[tuple[str, list[int]]]] = {}
    where = f"WHERE op IN {chosen}" if chosen else ""
    for op, key, numbers in store.query(
        f"SELECT op,key,definitions FROM kernels {where} ORDER BY rowid", ops
    ):
        listed = [int(number) for number in (numbers or "").split(",") if number]
        kernels.setdefault(op, []).append((key, listed))
    paths = _paths(store, {n for rows in kernels.values() for _, listed in rows for n in listed})
    where = f"WHERE full_name IN {chosen}" if chosen else ""
    rows = store.query(f"SELECT full_name,derivative FROM ops {where}", ops)
    store.db.executemany(
        "UPDATE ops SET summary=? WHERE full_name=?",
        [(_summary(native(n), derivative, kernels.get(n, []), paths), n) for n, derivative in rows],
    )


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


def _summary(
    native: NativeFunction, derivative: str, kernels: list[tuple[str, list[int]]],
    paths: dict[int, str],
) -> str:  # fmt: skip
    location = native.location
    numbers = (number for _, listed in kernels for number in listed)
    values = (
        native.schema,
        (location.path, location.line, location.end_line),
        tuple(dict.fromkeys(key for key, _ in kernels)),
        native.tags,
        native.python_module,
        bool(derivative) and not derivative.startswith(_NO_ENTRY),
        _kind(native, kernels),
        tuple(dict.fromkeys(paths[n] for n in numbers if n in paths)),
    )
    return _encode(values)


def _kind(native: NativeFunction, kernels: list[tuple[str, list[int]]]) -> str:
    if "generated" in native.tags:
        return "autogen"
    if native.structured:
        return "structured"
    if native.structured_delegate:
        return "delegate"
    if not kernels:
        return "no kernel"
    if all(key.startswith("Composite") for key, _ in kernels):
        return "composite"
    return "plain"
