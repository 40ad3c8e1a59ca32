"""Who wrote the lines of a file, as a column beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from navigator.tui.text import one_line

if TYPE_CHECKING:
    from indexes.history import BlamedLine, Change

BLAME_WIDTH = 29
_DATE, _NUMBER = 7, 8


def blame_column(lines: Sequence[BlamedLine]) -> tuple[str, ...]:
    """A text for each line: month, pull request, author. Text of the tree's history cannot act
    on the terminal."""
    return tuple(_text(one.change) for one in lines)


def _text(change: Change | None) -> str:
    if change is None:
        return "not committed"
    number = f"#{change.pull_request}" if change.pull_request else change.commit[:_NUMBER]
    before = "≤" if change.at_cut else " "
    author = one_line(change.author)
    return f"{change.date[:_DATE]}{before}{number:<{_NUMBER}} {author}"[: BLAME_WIDTH - 1]
