"""A dispatch table as plain text, keys with the same kernel together; and one key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from indexes.model.dispatch import DispatchSlot, DispatchTable, KeyCard, KeyUse
from indexes.queries.dispatch_path.live import Difference
from navigator.text.answers import wrap
from navigator.text.clean import clean


def table_lines(table: DispatchTable, differences: Sequence[Difference] | None) -> Iterator[str]:
    """Registrations, the kernel for each key, and differences from a running torch."""
    yield clean(f"aten::{table.op}" if "::" not in table.op else table.op)
    yield ""
    yield "registered"
    for slot in table.registrations:
        yield from _lines(slot, slot.key)
    if table.unseen:
        yield from wrap(table.unseen, "  ")
    yield ""
    yield "what each key runs, lowest priority first"
    for group in table.groups():
        yield from _group_lines(group)
    if empty := [slot.key for slot in table.slots if slot.kind == "missing"]:
        yield from wrap(f"no kernel and no fallback: {' '.join(empty)}", "  ")
    if table.precedence:
        yield from wrap(f"decided at {table.precedence}", "  ")
    if differences is not None:
        yield from _difference_lines(differences)


def _group_lines(slots: Sequence[DispatchSlot]) -> Iterator[str]:
    surest = min(slots, key=lambda slot: slot.confidence == "ambiguous")
    yield from _lines(surest, " ".join(slot.key for slot in slots), surest.kind)
    unsure = [s for s in slots if s.confidence == "ambiguous" != surest.confidence]
    if unsure:
        why = unsure[0].rule.rpartition("; ")[2]
        yield from wrap(f"{' '.join(slot.key for slot in unsure)}: {why}", "       ")


def _lines(slot: DispatchSlot, keys: str, kind: str = "") -> Iterator[str]:
    yield from wrap(keys, "  ")
    kernel = "falls through to the next key" if slot.fallthrough else slot.kernel or "raises"
    lines = list(wrap(f"{kernel}{f' [{kind}]' if kind else ''}", "       "))
    yield f"    -> {lines[0].lstrip()}"
    yield from lines[1:]
    yield from wrap(slot.rule, "       ")
    if slot.registration:
        yield clean(f"       by {slot.registration}")
    if slot.definition and slot.definition != slot.registration:
        yield clean(f"       at {slot.definition}")


def _difference_lines(differences: Sequence[Difference]) -> Iterator[str]:
    yield ""
    if not differences:
        yield "the installed torch agrees for every key"
        return
    yield "the installed torch differs"
    for reason, group in groupby(sorted(differences, key=_why), key=_why):
        ones = list(group)
        yield from wrap(" ".join(one.key for one in ones), "  ")
        theirs = ones[0].theirs
        text = f"{theirs.kind}, registered at {theirs.path}" if theirs else "nothing"
        yield from wrap(f"installed: {text}", "    ")
        yield from wrap(reason or "unexplained", "    ")


def _why(difference: Difference) -> str:
    return difference.reason


_USES = {
    "includes": "added to the thread's included set by",
    "excludes": "added to the thread's excluded set by",
    "tensor": "added to the key set of tensors by",
    "removes": "taken out of a set by",
    "set": "in named sets",
    "returns": "returned by",
    "asks": "tested for by",
    "names": "also named by",
}


def key_lines(card: KeyCard, limit: int) -> Iterator[str]:
    """What a key is, who sets it and what is registered for it, at most ``limit`` lines of each."""
    text = f", {card.meaning}" if card.meaning else ""
    yield clean(f"{card.name}: {card.kind} key{text}")
    yield clean(f"  {card.location}")
    if card.rank:
        yield f"  priority: number {card.rank} from the top"
    yield from _comment_lines(card)
    if card.keys:
        yield "covers"
        yield from wrap(" ".join(card.keys), "  ")
    yield from _fallback_lines(card)
    for what, group in groupby(card.uses, lambda one: one.what):
        yield from _use_lines(_USES[what], list(group), limit)
    yield from _registration_lines(card, limit)


def _comment_lines(card: KeyCard) -> Iterator[str]:
    if not card.comment:
        yield "  DispatchKey.h has no comment on it"
        return
    yield clean(f"comment at {card.comment_location}")
    for line in card.comment.split("\n"):
        yield clean(f"  {line}".rstrip())
    for where in card.notes:
        yield clean(f"  note: {where}")


def _fallback_lines(card: KeyCard) -> Iterator[str]:
    slot = card.fallback
    if card.kind not in ("runtime", "per backend"):
        return
    yield "fallback for all operators"
    if slot is None:
        yield "  none"
        return
    kernel = "falls through to the next key" if slot.fallthrough else slot.kernel
    yield from wrap(f"{kernel}: {slot.rule}", "  ")
    for where in dict.fromkeys((slot.registration, slot.definition)):
        if where:
            yield clean(f"  {where}")


def _use_lines(title: str, uses: list[KeyUse], limit: int) -> Iterator[str]:
    yield f"{title}: {len(uses)}"
    for use in uses[:limit]:
        around = f"  in {use.function}" if use.function else ""
        yield clean(f"  {use.location}{around}")
        yield clean(f"      {use.text}")
    yield from _more(len(uses), limit)


def _registration_lines(card: KeyCard, limit: int) -> Iterator[str]:
    yield f"kernels registered for it: {len(card.registrations):,}"
    if card.unseen:
        yield from wrap(card.unseen, "  ")
    for origin, count in card.origins().items():
        yield clean(f"  {count:5,} {origin}")
    for registration in card.registrations[:limit]:
        kernel = "falls through" if registration.slot.fallthrough else registration.slot.kernel
        where = registration.slot.definition or registration.slot.registration
        yield from wrap(f"{registration.op} -> {kernel}{f' ({where})' if where else ''}", "  ")
    yield from _more(len(card.registrations), limit)


def _more(count: int, limit: int) -> Iterator[str]:
    if count > limit:
        yield f"  {count - limit:,} more: --limit {count}"
