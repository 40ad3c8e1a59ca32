"""Answers in pages of bounded size, with the number of rows left and a cursor to them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Generic, TypeVar

from indexes.model.errors import UsageError
from indexes.model.vocabulary import Location
from navigator.text.clean import printable

Row = TypeVar("Row")

PAGE_SIZE = 4_000
"""Characters of a page's rows, as ``compact`` writes them: 2,000 tokens with the rest."""
LIMIT = 40
"""Default number of rows in a page."""


@dataclass(frozen=True)
class Page(Generic[Row]):
    """One page of an answer."""

    rows: list[Row]
    left: int
    """Number of rows after this page."""
    cursor: str
    """Cursor of the next page; empty on the last one."""


def page(
    rows: Iterable[Any],
    limit: int = LIMIT,
    cursor: str = "",
    room: int = PAGE_SIZE,
    answer: Callable[[Any], Any] = lambda row: row,
) -> Page[Any]:
    """Rows starting at a cursor, at most ``limit`` and at most ``room`` characters, each of them
    turned into a row of the answer by ``answer``.

    Raises:
        UsageError: The cursor is invalid.
    """
    every = list(rows)
    start = _start(cursor, len(every))
    found = [answer(row) for row in every[start : start + max(1, limit)]]
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
    """How many rows fit into ``room`` characters; at least one."""
    for at, row in enumerate(rows):
        room -= len(compact(row))
        if room < 0 and at:
            return at
    return len(rows)


def compact(answer: object) -> str:
    """The answer as JSON without empty values, to save tokens."""
    return json.dumps(_without_empty(answer), separators=(",", ":"), ensure_ascii=False)


def shown(value: object) -> Any:
    """The answer as plain objects, with invisible characters in its text written as escapes."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: shown(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, list):
        return [shown(one) for one in value]
    return printable(value) if isinstance(value, str) else value


def _without_empty(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        named = ((one.name, _without_empty(getattr(value, one.name))) for one in fields(value))
        return {name: one for name, one in named if one not in ("", [], 0, None, {})}
    if isinstance(value, list):
        return [_without_empty(one) for one in value]
    return printable(value) if isinstance(value, str) else value


def place_text(location: Location | None) -> str:
    """``path:line``; just the path for a whole file, empty for no location."""
    return str(location) if location else ""
