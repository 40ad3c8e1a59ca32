"""A dispatch table as plain text: keys that run the same for the same reason stand together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from indexes.model.dispatch import DispatchSlot, DispatchTable
from indexes.queries.dispatch_path.live import Difference
from navigator.text.answers import wrap
from navigator.text.clean import clean


def table_lines(table: DispatchTable, differences: Sequence[Difference] | None) -> Iterator[str]:
    """The registrations of an operator, what each key runs, and what a running torch says."""
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
        said = f"{theirs.kind}, registered at {theirs.path}" if theirs else "nothing"
        yield from wrap(f"installed: {said}", "    ")
        yield from wrap(reason or "unexplained", "    ")


def _why(one: Difference) -> str:
    return one.reason
