"""A view of a trace as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.content import Content
from textual.widget import Widget

from navigator.trace.views import Column, Row, View
from navigator.tui.text import one_line, shorten, shorten_path
from navigator.tui.widgets.line_list import LineList, Piece

_BAR = 12
_GAP = "  "
_LEAST = (8, 4)
"""Preferred and absolute minimum width of text columns."""
_READABLE = 28
"""Minimum width of text for bars to be drawn."""
_NOTES = 3
_TALL = 32
"""Minimum height of the terminal to show all notes, else one."""
_SUMS = ("us", "bytes", "count")
"""Units that can be shown as bars."""


@dataclass(frozen=True)
class Sheet:
    """A view with formatted cells, which take a while for many rows."""

    view: View
    rows: Sequence[Row]
    cells: Sequence[Sequence[str]]
    widths: Sequence[int]
    columns: Sequence[Column]
    """Columns with any text."""


def sheet_of(view: View, words: str = "") -> Sheet:
    """The rows of a view that contain all words."""
    rows: list[Row] = []
    cells: list[list[str]] = []
    filled = {key for row in view.rows for key, value in row.items() if value is not None}
    columns = [one for one in view.columns if one.key in filled]
    for row in view.rows:
        texts = [one_line(one.text(row.get(one.key))) for one in columns]
        line = "\t".join(texts).lower()
        if all(word in line for word in words.lower().split()):
            rows.append(row)
            cells.append(texts)
    titles = [column.title for column in columns]
    widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
    return Sheet(view, rows, cells, widths, columns)


def fitted(sheet: Sheet, width: int) -> list[int]:
    """The widths of the columns; the widest text columns are reduced."""
    widths = list(sheet.widths)
    texts = [at for at, column in enumerate(sheet.columns) if not column.unit]
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    for least in _LEAST:
        while over > 0 and texts:
            widest = max(texts, key=widths.__getitem__)
            if widths[widest] <= least:
                break
            widths[widest] -= 1
            over -= 1
    return widths


@dataclass(frozen=True)
class Fit:
    """The layout of a sheet for a width."""

    width: int
    widths: Sequence[int]
    bar: int
    """Width of the bars; 0 without space."""


def fit(sheet: Sheet, width: int) -> Fit:
    """The columns between blanks, and bars as long as texts stay readable."""
    widths = fitted(sheet, width - 2)
    if not any(column.unit in _SUMS for column in sheet.columns):
        return Fit(width, widths, 0)
    beside_bar = fitted(sheet, width - _BAR - 3)
    total = sum(beside_bar) + len(_GAP) * (len(beside_bar) - 1)
    readable = all(
        now >= min(before, _READABLE) for now, before in zip(beside_bar, sheet.widths, strict=True)
    )
    if readable and total <= width - _BAR - 3:
        return Fit(width, beside_bar, _BAR + 1)
    return Fit(width, widths, 0)


def aligned(texts: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
    """The cells of a line: numbers right-aligned, text left-aligned."""
    parts = zip(texts, columns, widths, strict=True)
    return [
        text.rjust(width) if column.unit else _cut(text, width).ljust(width)
        for text, column, width in parts
    ]


def _cut(text: str, width: int) -> str:
    is_path = "/" in text and " " not in text
    return (shorten_path if is_path else shorten)(text, width)


class ViewHead(Widget):
    """The notes of a view, and the titles of its columns."""

    DEFAULT_CSS: ClassVar[str] = """
    ViewHead { height: auto; max-height: 5; padding: 0; display: none; }
    """

    _sheet: Sheet | None = None
    _text = ""

    @property
    def _most(self) -> int:
        """Number of notes that fit."""
        return _NOTES if self.app.size.height >= _TALL else 1

    def show(self, sheet: Sheet) -> None:
        self._sheet, self._text = sheet, ""
        self.refresh(layout=True)

    def say(self, text: str) -> None:
        """Show one line instead."""
        self._sheet, self._text = None, one_line(text)
        self.refresh(layout=True)

    def render(self) -> Content:
        sheet = self._sheet
        if self._text:
            return Content(f" {self._text}").truncate(self.size.width, ellipsis=True)
        if sheet is None:
            return Content("")
        width = self.size.width
        lines = [Content.styled(line, "dim") for line in _note_lines(sheet, width, self._most)]
        if sheet.rows:
            shown = fit(sheet, width)
            titles = aligned([one.title for one in sheet.columns], sheet.columns, shown.widths)
            text = " " * (1 + shown.bar) + _GAP.join(titles)
            lines.append(Content.styled(shorten(text.rstrip(), width), "underline"))
        return Content("\n").join(lines)


def _note_lines(sheet: Sheet, width: int, most: int) -> Iterator[str]:
    """The first notes, the last of them with the number of the others."""
    notes = [one_line(note) for note in sheet.view.notes]
    left = len(notes) - most
    for at, note in enumerate(notes[:most], 1):
        more = f" (+{left} more notes)" if at == most and left > 0 else ""
        yield f" {shorten(note, width - 1 - len(more))}{more}"


class ViewTable(LineList):
    """The rows of a view, with a bar for the first number if there is space."""

    _sheet: Sheet | None = None
    _fit: Fit | None = None
    _most = 0.0

    @property
    def row_count(self) -> int:
        return len(self._sheet.rows) if self._sheet is not None else 0

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        if self._sheet is None or self.cursor >= self.row_count:
            return None
        return self._sheet.rows[self.cursor]

    def watch_cursor(self, old: int, new: int) -> None:
        super().watch_cursor(old, new)
        self.post_message(self.Moved())

    def show(self, sheet: Sheet) -> None:
        """Show a view; the cursor stays if it is the same one."""
        is_same = self._sheet is not None and self._sheet.view.name == sheet.view.name
        self._sheet, self._fit = sheet, None
        self._most = max((_number(sheet, row) for row in sheet.rows), default=0.0)
        self.message = "no row matches" if sheet.view.rows else "the trace has no rows for this"
        self.rows_changed(self.cursor if is_same else 0)

    def row(self, index: int, width: int) -> Iterable[Piece]:
        assert self._sheet is not None
        sheet = self._sheet
        if self._fit is None or self._fit.width != width:
            self._fit = fit(sheet, width)
        pieces: list[Piece] = [(" ", "")]
        if self._fit.bar:
            number = _number(sheet, sheet.rows[index])
            share = max(round(_BAR * number / self._most), 0) if self._most else 0
            pieces.append(("█" * share + " " * (self._fit.bar - share), "accent"))
        texts = aligned(sheet.cells[index], sheet.columns, self._fit.widths)
        first = next((at for at, one in enumerate(sheet.columns) if one.unit), -1)
        for at, text in enumerate(texts):
            style = "strong" if at == first else "dim" if sheet.columns[at].unit else ""
            pieces.append((text + _GAP * (at + 1 < len(texts)), style))
        used = sum(len(text) for text, _ in pieces)
        return [*pieces, (" " * max(width - used, 0), "")]


def _number(sheet: Sheet, row: Row) -> float:
    """The first number of a row, shown as its bar."""
    first = next((column for column in sheet.columns if column.unit in _SUMS), None)
    value = row.get(first.key) if first is not None else None
    return float(value) if isinstance(value, int | float) else 0.0
