"""Cursor keys of the source pane, and movement by words."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding, BindingType

from indexes.model.regex import regex

MOVES: list[BindingType] = [
    Binding("down,j", "move(1, 0)", "Down", show=False, id="cursor.down"),
    Binding("up,k", "move(-1, 0)", "Up", show=False, id="cursor.up"),
    Binding("left,h", "move(0, -1)", "Left", show=False, id="cursor.left"),
    Binding("right,l", "move(0, 1)", "Right", show=False, id="cursor.right"),
    Binding("w", "word(1)", "Next word", show=False, id="cursor.word"),
    Binding("b", "word(-1)", "Previous word", show=False, id="cursor.word_back"),
    Binding("0,home", "column(0)", "Start of line", show=False, id="cursor.line_start"),
    Binding("dollar_sign,end", "column(-1)", "End of line", show=False, id="cursor.line_end"),
    Binding("ctrl+d", "page(0.5)", "Half a page down", show=False, id="cursor.half_down"),
    Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False, id="cursor.half_up"),
    Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False, id="cursor.page_down"),
    Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False, id="cursor.page_up"),
    Binding("ctrl+home", "first", "First line", show=False, id="cursor.first"),
    Binding("G,ctrl+end", "last", "Last line", show=False, id="cursor.last"),
    Binding("n", "found(1)", "Next match", show=False, id="search.next"),
    Binding("N", "found(-1)", "Previous match", show=False, id="search.previous"),
]
"""The keys for moving the cursor."""
_WORD = regex(r"\w+|[^\w\s]+")


def next_word(lines: Sequence[str], row: int, column: int) -> tuple[int, int]:
    """The start of the next word, on this line or a later one."""
    for later in range(row, len(lines)):
        for match in _WORD.finditer(lines[later]):
            if later > row or match.start() > column:
                return later, match.start()
    return row, column


def previous_word(lines: Sequence[str], row: int, column: int) -> tuple[int, int]:
    """The start of the previous word, on this line or an earlier one."""
    for earlier in range(min(row, len(lines) - 1), -1, -1):
        starts = [match.start() for match in _WORD.finditer(lines[earlier])]
        starts = [start for start in starts if earlier < row or start < column]
        if starts:
            return earlier, starts[-1]
    return row, column
