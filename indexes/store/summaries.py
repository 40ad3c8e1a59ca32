"""Rows of the operator list, as the index keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from json import loads
from typing import Any

from indexes.model.vocabulary import Location, OperatorSummary
from indexes.store.definition_rows import OP_LINES
from indexes.store.index_file import Store


def all_summaries(store: Store) -> tuple[OperatorSummary, ...]:
    """Every overload in YAML order."""
    return _read(store, "1 ORDER BY position")


def one_summary(store: Store, full_name: str) -> OperatorSummary | None:
    """One overload; None when there is none of that name."""
    return summaries(store, (full_name,)).get(full_name)


def summaries(store: Store, full_names: Sequence[str]) -> dict[str, OperatorSummary]:
    """Some overloads by name, those that there are."""
    marks = ",".join("?" * len(full_names))
    return {one.full_name: one for one in _read(store, f"full_name IN ({marks})", full_names)}


def _read(store: Store, which: str, given: Sequence[str] = ()) -> tuple[OperatorSummary, ...]:
    """Documents are read all at once: that takes half as long as one by one."""
    rows = store.query(f"SELECT full_name,summary,{OP_LINES} FROM ops WHERE {which}", given)
    kept = loads(f"[{','.join([row[1] for row in rows])}]")
    return tuple(_summary(row[0], values, row[2]) for row, values in zip(rows, kept, strict=True))


def _summary(full_name: str, values: list[Any], lines: int) -> OperatorSummary:
    schema, (path, line, end), keys, tags, module, has_derivative, kind, files = values
    return OperatorSummary(
        full_name,
        schema,
        Location(path, line + lines, end + lines),
        tuple(keys),
        tuple(tags),
        module,
        has_derivative,
        kind,
        tuple(files),
    )
