"""Lines of a text by offset, and lines of files as users write them."""

from __future__ import annotations

from functools import partial

from indexes.model.regex import regex

LINE = r"\d{1,18}"
"""The pattern of a line number, with no more digits than SQLite accepts."""
_PLACE = regex(rf"((?:[A-Za-z]:)?[^:]+):({LINE})(?::\d+)?:?")


def placed(text: str) -> tuple[str, int] | None:
    """The file and line of ``path:line``, with or without a column or colon behind."""
    found = _PLACE.fullmatch(text)
    return (found[1], int(found[2])) if found else None


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
