"""A diff as plain JSON values, by the contract (``docs/json.md``)."""

from __future__ import annotations

from indexes.model.vocabulary import SCHEMA_VERSION
from indexes.queries.diff.model import Change, Diff, Side
from indexes.serialize.answers import Object, shape, to_object

shape(Change, "facet what ops subject before after backward? forward? rules")
shape(Side, "text path line")


def diff_json(diff: Diff) -> Object:
    """The answer of ``torchnav diff``."""
    return {"schema_version": SCHEMA_VERSION, **to_object(diff, "before after changes notes")}
