"""What a typed name means, as rows: the same in every box of the screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from indexes.model.answers import NameMatch
from navigator.tui.place_rows import PlaceRow, of_hit, of_operators
from navigator.tui.session import Session
from navigator.tui.text import one_line

_HOLDING = 50
"""Names that hold a text, offered when nothing has it as its name."""


class Named(NamedTuple):
    """Operators and places, and what there is to say about them."""

    rows: list[PlaceRow]
    note: str = ""
    heading: str = ""
    """Above rows that are not what was typed."""
    is_near: bool = False
    """Whether the rows are only near what was typed: they do not hold it."""


def named(session: Session, text: str) -> Named:
    """What a text means; or else the names that hold it, or that are near. For a thread."""
    match = session.index.resolve(text)
    if match.kind != "none":
        return Named(list(_rows(session, match)), one_line(match.note or _kind(match)))
    holding = [of_hit(hit) for hit in session.index.find(text, _HOLDING)]
    said = f"nothing is named {one_line(text)}"
    if holding:
        return Named(holding, f"{said}; names that contain it", "not found; names that contain it")
    near = list(_near(session, match))
    return (
        Named(near, f"{said}; near names", "not found; near names", is_near=True)
        if near
        else Named([], said)
    )


def _kind(match: NameMatch) -> str:
    """What a Python name is that leads to no operator."""
    if match.kind != "python" or match.overloads or not match.hits:
        return ""
    return f"Python {match.hits[0].kind}, not an ATen operator"


def _rows(session: Session, match: NameMatch) -> Iterator[PlaceRow]:
    """An operator's name means its overloads; any other its places, then what they lead to."""
    operators = list(of_operators(session, match.overloads))
    if match.kind in ("operator", "grad_fn"):
        yield from operators
    op = operators[0].op if operators and match.kind == "python" else None
    for hit in match.hits:
        row = of_hit(hit)
        yield PlaceRow(row.name, row.location, row.kind, row.detail, row.op or op)
    if match.kind not in ("operator", "grad_fn"):
        yield from operators
    if match.kind == "python":
        yield from _calls(session, match)


def _calls(session: Session, match: NameMatch) -> Iterator[PlaceRow]:
    """What a Python function calls: operators, and what is defined in Python."""
    card = session.index.python(match.text)
    for call in card.calls if card else ():
        leads = [name for name in call.operators if name not in match.overloads]
        yield from of_operators(session, leads[:1])
        if call.location is not None:
            yield PlaceRow(call.name, call.location, "calls", f"line {call.line}")


def _near(session: Session, match: NameMatch) -> Iterator[PlaceRow]:
    """What near names lead to, a bare name to its overloads; then C++ names that end alike."""
    for name in match.suggestions:
        yield from of_operators(session, session.index.resolve(name).overloads[:3])
    for hit in match.namesakes:
        yield PlaceRow(hit.name, hit.location, "C++ namesake", hit.detail)
