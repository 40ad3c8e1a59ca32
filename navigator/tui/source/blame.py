"""The authors of a file's lines, as a column beside them."""

from __future__ import annotations

from collections.abc import Sequence

from indexes.source.git_history import BlamedLine, Change
from navigator.tui.text import one_line

BLAME_WIDTH = 29
_DATE, _NUMBER = 7, 8


def blame_column(lines: Sequence[BlamedLine]) -> tuple[str, ...]:
    """A text for each line: month, pull request, author. Control characters are escaped."""
    return tuple(_text(line.change) for line in lines)


def _text(change: Change | None) -> str:
    if change is None:
        return "not committed"
    number = f"#{change.pull_request}" if change.pull_request else change.commit[:_NUMBER]
    before = "≤" if change.at_cut else " "
    author = one_line(change.author)
    return f"{change.date[:_DATE]}{before}{number:<{_NUMBER}} {author}"[: BLAME_WIDTH - 1]


def note_at(notes: Sequence[str], blamed: range, row: int, *, is_first: bool) -> str:
    """A row's note; authors are noted on the first of a run of lines or of the screen."""
    if not blamed:
        return notes[row] if row < len(notes) else ""
    if row + 1 not in blamed:
        return ""
    at = row + 1 - blamed.start
    again = at > 0 and notes[at] == notes[at - 1]
    return "" if again and not is_first else notes[at]
