"""Dispatch tables as JSON, by the contract (``docs/json.md``)."""

from __future__ import annotations

from collections.abc import Iterable

from indexes.model.dispatch import (
    DispatchSlot,
    DispatchTable,
    KeyCard,
    KeyCause,
    KeyRegistration,
    KeyUse,
    PathStep,
    SwitchPath,
    SwitchPaths,
)
from indexes.queries.dispatch_path.live import Difference, LiveSlot, LiveSwitch
from indexes.serialize.answers import Object, envelope, shape, to_object

shape(
    DispatchSlot,
    "key kernel? kind fallthrough origin rule confidence registration definition evidence guard",
)
shape(Difference, "key live=theirs reason")
shape(LiveSlot, "kind fallthrough path line")
shape(KeyCause, "key change words path line")
shape(PathStep, "key call action cause slot then then_location certain")
shape(SwitchPath, "switch meaning changes steps kernels end note note_location unknown")
shape(LiveSwitch, "switch tensor included excluded kernels agrees why")
shape(KeyUse, "what text path line function")
shape(KeyRegistration, "op slot")


def key_json(card: KeyCard, limit: int) -> Object:
    """The answer of ``torchnav key``: the first ``limit`` registrations, and all counts."""
    keys = (
        "name kind path line meaning comment comment_location notes rank keys fallback uses unseen"
    )
    counts = {"registered": len(card.registrations), "origins": card.origins()}
    listed = card.registrations[:limit]
    return envelope(card.source, **to_object(card, keys), **counts, registrations=listed)


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


def switch_paths_json(answer: SwitchPaths, live: Iterable[LiveSwitch] | None = None) -> Object:
    """The answer of ``torchnav table --when``; with ``--live`` what the installed torch says."""
    compared = {} if live is None else {"live": [*live]}
    paths = {"op": answer.op, "backend": answer.backend, "paths": answer.paths}
    return envelope(answer.source, **paths, **compared)


def table_row_json(op: str, slot: DispatchSlot) -> Object:
    """A row of ``torchnav export table``."""
    return {"op": op, **to_object(slot, "key kernel origin kind fallthrough")}
