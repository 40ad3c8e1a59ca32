"""A diff as plain JSON values, by the contract (``docs/json.md``)."""

from __future__ import annotations

from indexes.model.vocabulary import SCHEMA_VERSION
from indexes.queries.diff.model import Change, Diff, Side
from indexes.serialize.answers import Object, source_json


def diff_json(diff: Diff) -> Object:
    """The answer of ``torchnav diff``."""
    return {
        "schema_version": SCHEMA_VERSION,
        "before": source_json(diff.before),
        "after": source_json(diff.after),
        "changes": [change_json(change) for change in diff.changes],
        "notes": list(diff.notes),
    }


def change_json(change: Change) -> Object:
    """One difference; every key is always there."""
    return {
        "facet": change.facet,
        "what": change.what,
        "ops": list(change.ops),
        "subject": change.subject,
        "before": _side(change.before),
        "after": _side(change.after),
        "backward": change.backward or None,
        "forward": change.forward or None,
        "rules": list(change.rules),
    }


def _side(side: Side | None) -> Object | None:
    if side is None:
        return None
    where = side.location
    return {
        "text": side.text,
        "path": where.path if where else None,
        "line": where.line if where else None,
    }
