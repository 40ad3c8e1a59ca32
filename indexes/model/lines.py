"""Small operations: lines by offset, places as users write them, short lists, values by key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import takewhile
from typing import TypeVar

from indexes.model.regex import regex

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
LINE = r"\d{1,18}"
"""The pattern of a line number, with no more digits than SQLite accepts."""
_PLACE = regex(rf"((?:[A-Za-z]:)?[^:]+):({LINE})(?::\d+)?:?")


def placed(text: str) -> tuple[str, int] | None:
    """The file and line of ``path:line``, with or without a column or colon behind."""
    found = _PLACE.fullmatch(text)
    return (found[1], int(found[2])) if found else None


def listed(names: Iterable[str], most: int, separator: str = ", ") -> str:
    """The first of some names, and the number of the others: ``a, b and 3 more``."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return separator.join(every[:most]) + more


def length_in_common(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of characters, or of words, with which both begin."""
    same = takewhile(lambda two: two[0] == two[1], zip(one, other, strict=False))
    return sum(1 for _ in same)


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """The values of each key; keys and values in order of appearance."""
    found: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


class LineCount:
    """Line numbers of offsets that nearly ascend, counted from the last one."""

    def __init__(self, text: str | bytes, first: int = 1) -> None:
        self._at, self._line = 0, first
        if isinstance(text, str):
            self._ends = partial(text.count, "\n")
        else:
            self._ends = partial(text.count, b"\n")

    def __call__(self, at: int) -> int:
        if at >= self._at:
            self._line += self._ends(self._at, at)
        else:
            self._line -= self._ends(at, self._at)
        self._at = at
        return self._line
