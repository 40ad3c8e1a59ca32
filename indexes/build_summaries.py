"""The rows of the operator list, made once when operators are linked."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from indexes.store import Store

_CHUNK = 500


def keep_summaries(store: Store, ops: Collection[str] | None = None) -> None:
    """Makes the summaries of all operators, or of some, anew from what is linked now."""
    if ops is None or len(ops) > _CHUNK:
        _keep(store, "", ())
    elif ops:
        _keep(store, f"({','.join('?' * len(ops))})", tuple(ops))


def _keep(store: Store, chosen: str, ops: tuple[str, ...]) -> None:
    kernels: dict[str, list[tuple[str, list[int]]]] = {}
    where = f"WHERE op IN {chosen}" if chosen else ""
    for op, key, numbers in store.query(
        f"SELECT op,key,definitions FROM kernels {where} ORDER BY rowid", ops
    ):
        listed = [int(number) for number in (numbers or "").split(",") if number]
        kernels.setdefault(op, []).append((key, listed))
    paths = _paths(store, {n for rows in kernels.values() for _, listed in rows for n in listed})
    where = f"WHERE full_name IN {chosen}" if chosen else ""
    rows = store.query(f"SELECT full_name,data,derivative FROM ops {where}", ops)
    store.db.executemany(
        "UPDATE ops SET summary=? WHERE full_name=?",
        [(_summary(row, kernels.get(row[0], []), paths), row[0]) for row in rows],
    )


def _paths(store: Store, numbers: set[int]) -> dict[int, str]:
    sql = "SELECT d.id,f.path FROM definitions d JOIN files f ON f.id=d.file"
    if len(numbers) > _CHUNK:
        return dict(store.query(sql))
    marks = ",".join("?" * len(numbers))
    return dict(store.query(f"{sql} WHERE d.id IN ({marks})", tuple(numbers)))


def _summary(
    row: tuple[Any, ...], kernels: list[tuple[str, list[int]]], paths: dict[int, str]
) -> str:
    _, data, derivative = row
    native = json.loads(data)
    location = native["location"]
    numbers = (number for _, listed in kernels for number in listed)
    derived = json.loads(derivative) if derivative else None
    values = (
        native["schema"],
        (location["path"], location["line"], location["end_line"]),
        tuple(dict.fromkeys(key for key, _ in kernels)),
        native["tags"],
        native["python_module"],
        bool(derived and derived[0] is not None),
        _kind(native, kernels),
        tuple(dict.fromkeys(paths[n] for n in numbers if n in paths)),
    )
    return json.dumps(values, separators=(",", ":"))


def _kind(native: dict[str, Any], kernels: list[tuple[str, list[int]]]) -> str:
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
