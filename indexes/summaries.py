"""Rows of the operator list, as the index keeps them."""

from __future__ import annotations

import json
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
    rows = store.query("SELECT summary FROM ops WHERE full_name=?", (full_name,))
    return _summary(full_name, json.loads(rows[0][0])) if rows else None


def _summary(full_name: str, values: list[Any]) -> OperatorSummary:
    schema, location, keys, tags, module, has_derivative, kind, files = values
    return OperatorSummary(
        full_name, schema, Location(*location), tuple(keys), tuple(tags), module, has_derivative,
        kind, tuple(files),
    )  # fmt: skip
