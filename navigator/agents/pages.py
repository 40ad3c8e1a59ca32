"""Answers of bounded size: rows until a page is full, how many are left, and how to get them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Generic, TypeVar

from indexes.model.errors import UsageError
from indexes.model.vocabulary import Location
from navigator.text.clean import printable

Row = TypeVar("Row")

ROOM = 4_000
"""Characters of the rows of a page, as ``compact`` writes them: with what stands around them below
2,000 tokens."""
LIMIT = 40
"""Rows of a page, where nobody asks for another number."""


@dataclass(frozen=True)
class Page(Generic[Row]):
    """A part of an answer."""

    rows: list[Row]
    left: int
    """How many rows follow that are not here."""
    cursor: str
    """What to pass to get them; empty where there are none."""


def page(rows: Iterable[Row], limit: int = LIMIT, cursor: str = "", room: int = ROOM) -> Page[Row]:
    """The rows from a cursor on, at most ``limit`` and no more than there is room for; of a
    sequence no others are looked at.

    Raises:
        UsageError: The cursor is none of ours.
    """
    every = rows if isinstance(rows, Sequence) else list(rows)
    start = _start(cursor, len(every))
    found = list(every[start : start + max(1, limit)])
    del found[_fitting(found, room) :]
    end = start + len(found)
    left = len(every) - end
    return Page(found, left, str(end) if left else "")


def _start(cursor: str, count: int) -> int:
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 19) or int(cursor) >= count:
        raise UsageError(f"no cursor of this answer: {cursor!r}")
    return int(cursor)


def _fitting(rows: Sequence[object], room: int) -> int:
    """How many of the rows there is room for: the first one in any case."""
    for at, row in enumerate(rows):
        room -= len(compact(row))
        if room < 0 and at:
            return at
    return len(rows)


def compact(answer: object) -> str:
    """An answer as JSON without what is empty, for readers who pay by the letter."""
    return json.dumps(_bare(answer), separators=(",", ":"), ensure_ascii=False)


def shown(value: object) -> Any:
    """An answer as plain objects, in which no text hides: what is not visible is written as an
    escape, so that whoever reads it sees what a source or a trace holds."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: shown(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, list):
        return [shown(one) for one in value]
    return printable(value) if isinstance(value, str) else value


def _bare(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        named = ((one.name, _bare(getattr(value, one.name))) for one in fields(value))
        return {name: one for name, one in named if one not in ("", [], 0, None, {})}
    if isinstance(value, list):
        return [_bare(one) for one in value]
    return printable(value) if isinstance(value, str) else value


def spot(location: Location | None) -> str:
    """``path:line``; empty for none, the path alone for a whole file."""
    return str(location) if location else ""
