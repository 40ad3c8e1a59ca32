"""Where the cursor of the source pane goes when it moves by words."""

from __future__ import annotations

from collections.abc import Sequence

from indexes.regex import regex

_WORD = regex(r"\w+|[^\w\s]+")


def next_word(lines: Sequence[str], row: int, column: int) -> tuple[int, int]:
    """The start of the next word, on this line or on a later one."""
    for later in range(row, len(lines)):
        for match in _WORD.finditer(lines[later]):
            if later > row or match.start() > column:
                return later, match.start()
    return row, column


def previous_word(lines: Sequence[str], row: int, column: int) -> tuple[int, int]:
    """The start of the word before, on this line or on an earlier one."""
    for earlier in range(row, -1, -1):
        starts = [match.start() for match in _WORD.finditer(lines[earlier])]
        starts = [start for start in starts if earlier < row or start < column]
        if starts:
            return earlier, starts[-1]
    return row, column
