"""Rows of the operator list, as the index keeps them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from indexes.model import Location, OperatorSummary
from indexes.store import Store


def all_summaries(store: Store) -> tuple[OperatorSummary, ...]:
    """Every overload in YAML order."""
    rows = store.query("SELECT full_name,summary FROM ops ORDER BY position")
    kept = json.loads(f"[{','.join(summary for _, summary in rows)}]")
    return tuple(_summary(row[0], values) for row, values in zip(rows, kept, strict=True))


def one_summary(store: Store, full_name: str) -> OperatorSummary | None:
    """One overload; None when there is none of that name."""
    return summaries(store, (full_name,)).get(full_name)


def summaries(store: Store, full_names: Sequence[str]) -> dict[str, OperatorSummary]:
    """Some overloads by name, those that there are."""
    marks = ",".join("?" * len(full_names))
    sql = f"SELECT full_name,summary FROM ops WHERE full_name IN ({marks})"
    return {name: _summary(name, json.loads(kept)) for name, kept in store.query(sql, full_names)}


def _summary(full_name: str, values: list[Any]) -> OperatorSummary:
    schema, location, keys, tags, module, has_derivative, kind, files = values
    return OperatorSummary(
        full_name, schema, Location(*location), tuple(keys), tuple(tags), module, has_derivative,
        kind, tuple(files),
    )  # fmt: skip
