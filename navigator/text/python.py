"""A Python name as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from indexes.model.answers import Hit
from indexes.model.lines import listed
from indexes.model.python import PythonCall, PythonCard
from navigator.text.answers import WIDTH, hit_lines, shortened_path, wrap
from navigator.text.clean import clean

_MOST = 12
"""Maximum number of calls and members."""


def defined_lines(card: PythonCard, hits: Iterable[Hit]) -> Iterator[str]:
    """The definition, and other meanings of the name."""
    first, *others = hits
    yield from hit_lines([first])
    if card.doc:
        yield from wrap(card.doc, "    ")
    yield from hit_lines(others)


def known_lines(card: PythonCard) -> Iterator[str]:
    """Everything else known about it."""
    if card.signature:
        yield from wrap(card.signature, "  ")
    yield from _calls(card)
    yield from _members(card)
    yield clean(f"  callers  torchnav callers {card.answer.name}")
    for label, places in (("tests", card.tests), ("docs", card.documents)):
        if places:
            yield from wrap(f"{label}  {listed(map(str, places), 3)}", "  ")


def _members(card: PythonCard) -> Iterator[str]:
    """The methods of a class, or the definitions of a module, in a few lines."""
    names = [f"{member.name}:{member.location.line}" for member in card.members]
    if names:
        word = "defines" if card.answer.kind == "module" else "methods"
        lines = list(wrap(f"{word} {', '.join(names)}", "  "))
        yield from lines[:_MOST]
        if len(lines) > _MOST:
            yield "  ... the others: --json"


def _calls(card: PythonCard) -> Iterator[str]:
    """Its calls, operators with theirs."""
    for call in card.calls[:_MOST]:
        head = f"  calls  :{call.line}  {call.name}"
        where = shortened_path(_where(call), max(20, WIDTH - len(head) - 2))
        yield clean(f"{head}  {where}".rstrip())
    if (left := len(card.calls) - _MOST) > 0:
        yield f"  ... {left} more that it calls: --json"
    if card.untold:
        text = "1 call" if card.untold == 1 else f"{card.untold} calls"
        yield f"  {text} not listed, on values whose class is not known"


def _where(call: PythonCall) -> str:
    if call.operators:
        return f"operator {call.operators[0]}"
    return f"{call.location.path}:{call.location.line}" if call.location else "bound in C++"
