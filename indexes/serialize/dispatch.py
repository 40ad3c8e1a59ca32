"""Dispatch tables as JSON, by the contract (``docs/json.md``)."""

from __future__ import annotations

from collections.abc import Iterable

from indexes.model.dispatch import DispatchSlot, DispatchTable
from indexes.queries.dispatch_compare import Difference, LiveSlot
from indexes.serialize.answers import Object, envelope, shape, to_object

shape(
    DispatchSlot,
    "key kernel? kind fallthrough origin rule confidence registration definition evidence guard",
)
shape(Difference, "key live=theirs reason")
shape(LiveSlot, "kind fallthrough path line")


def table_json(table: DispatchTable, differences: Iterable[Difference] | None = None) -> Object:
    """The answer of ``torchnav table``; with ``--live`` also what the installed torch runs."""
    compared = {} if differences is None else {"differences": [*differences]}
    return envelope(
        table.source,
        op=table.op,
        slots=table.slots,
        registrations=table.registrations,
        precedence=table.precedence,
        unseen=table.unseen,
        **compared,
    )


def table_row_json(op: str, slot: DispatchSlot) -> Object:
    """A row of ``torchnav export table``."""
    return {"op": op, **to_object(slot, "key kernel origin kind fallthrough")}
