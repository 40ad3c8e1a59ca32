"""On which line of a text something stands, and lines of files as people name them."""

from __future__ import annotations

from functools import partial

from indexes.model.regex import regex

LINE = r"\d{1,18}"
"""The number of a line in a pattern: as many digits as SQLite takes."""
_PLACE = regex(rf"((?:[A-Za-z]:)?[^:]+):({LINE})(?::\d+)?:?")


def placed(text: str) -> tuple[str, int] | None:
    """The file and the line of ``path:line``, with a column or a colon behind or without."""
    found = _PLACE.fullmatch(text)
    return (found[1], int(found[2])) if found else None


class LineCount:
    """The lines of places that are asked for nearly in their order: counted from the last one."""

    def __init__(self, text: str | bytes, first: int = 1) -> None:
        self._at, self._line = 0, first
        if isinstance(text, str):
            self._ends = partial(text.count, "\n")
        else:
            self._ends = partial(text.count, b"\n")

    def __call__(self, at: int) -> int:
        """The line of an offset."""
        if at >= self._at:
            self._line += self._ends(self._at, at)
        else:
            self._line -= self._ends(at, self._at)
        self._at = at
        return self._line
