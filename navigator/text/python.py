"""A Python name as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from indexes.model.answers import Hit
from indexes.model.python import PythonCall, PythonCard
from navigator.text.answers import hit_lines, wrap
from navigator.text.clean import clean

_MOST = 12
"""Calls and members that are listed."""


def defined_lines(card: PythonCard, hits: Iterable[Hit]) -> Iterator[str]:
    """The definition, and what else the name can mean."""
    first, *others = hits
    yield from hit_lines([first])
    if card.doc:
        yield from wrap(card.doc, "    ")
    yield from hit_lines(others)


def known_lines(card: PythonCard) -> Iterator[str]:
    """What is known of it besides."""
    if card.signature:
        yield from wrap(card.signature, "  ")
    yield from _calls(card)
    if card.members:
        yield from wrap(
            f"methods {', '.join(f'{m.name}:{m.location.line}' for m in card.members)}", "  "
        )
    yield clean(f"  callers  torchnav callers {card.answer.name}")
    for label, places in (("tests", card.tests), ("docs", card.documents)):
        if places:
            said = ", ".join(f"{one.path}:{one.line}" for one in places[:3])
            more = f" and {len(places) - 3} more" if len(places) > 3 else ""
            yield from wrap(f"{label}  {said}{more}", "  ")


def _calls(card: PythonCard) -> Iterator[str]:
    """What it calls, operators with theirs."""
    for call in card.calls[:_MOST]:
        yield clean(f"  calls  :{call.line}  {call.name}  {_where(call)}".rstrip())
    if (left := len(card.calls) - _MOST) > 0:
        yield f"  ... {left} more that it calls: --json"
    if card.untold:
        said = "1 call is" if card.untold == 1 else f"{card.untold} calls are"
        yield f"  {said} not listed: on values whose class is not known"


def _where(call: PythonCall) -> str:
    if call.operators:
        return f"operator {call.operators[0]}"
    return f"{call.location.path}:{call.location.line}" if call.location else "bound in C++"
