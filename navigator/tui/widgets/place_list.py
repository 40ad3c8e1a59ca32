"""The list of places in source: kind, name, location."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from navigator.tui.place_rows import PlaceRow
from navigator.tui.text import one_line, place, short_symbol, shorten
from navigator.tui.widgets.line_list import LineList, Piece, fill

_ROOMY = 64
"""Minimum width to show the file even if all rows have the same."""


_KINDS = 12
"""Width of kinds in the narrowest list."""


class PlaceList(LineList):
    """Rows of places, with headings that the cursor skips and foldable rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "fold", "Fold", show=False, id="list.fold"),
        Binding("right,l", "fold", "Expand or collapse", show=False, id="list.into"),
        Binding("left,h", "fold", "Collapse", show=False, id="list.out"),
    ]

    class Selected(Message):
        """The cursor is on another place."""

        def __init__(self, place: PlaceRow) -> None:
            super().__init__()
            self.place = place

    _all: Sequence[PlaceRow] = ()
    _rows: Sequence[PlaceRow] = ()
    _kinds = 0
    _has_one_file = False

    def show(self, rows: Sequence[PlaceRow], *, folded: bool = False) -> None:
        """Show these rows; ``folded`` hides indented ones."""
        self._all = rows
        self._open = set() if folded else {row for row in rows if not row.depth}
        self._kinds = max((len(row.kind) for row in rows if not row.depth), default=0)
        files = {row.location.path for row in rows if row.location}
        self._has_one_file = len(files) == 1
        self._rows = self._visible()
        self.rows_changed()
        self._announce()

    _open: set[PlaceRow]

    def _visible(self) -> list[PlaceRow]:
        rows: list[PlaceRow] = []
        owner: PlaceRow | None = None
        for row in self._all:
            owner = owner if row.depth else row
            if not row.depth or owner in self._open:
                rows.append(row)
        return rows

    @property
    def row_count(self) -> int:
        return len(self._rows)

    @property
    def current(self) -> PlaceRow | None:
        """The place under the cursor."""
        row = self._rows[self.cursor] if self._rows else None
        return row if row and row.location else None

    def can_rest(self, index: int) -> bool:
        return self._rows[index].location is not None

    def row(self, index: int, width: int) -> Iterable[Piece]:
        row = self._rows[index]
        if row.location is None:
            return fill([(f" {'  ' * row.depth}{one_line(row.name)}", "head")], [], width)
        where = place(row.location, max(12, width * 2 // 5))
        if self._has_one_file and width < _ROOMY:
            where = f":{row.location.line}"
        kinds = min(self._kinds, max(_KINDS, width * 3 // 10))
        return fill(self._left(row, kinds), [(f"  {where} ", "dim")], width)

    def _left(self, row: PlaceRow, kinds: int) -> list[Piece]:
        name = short_symbol(row.name)
        if row.depth:
            return [("  " * row.depth, ""), (f"{row.kind} ", "faint"), (name, "")]
        kind = f" {shorten(one_line(row.kind), kinds):<{kinds}} " if kinds else " "
        more = f" +{row.below}" if row.below and row not in self._open else ""
        scope = one_line(row.name.removesuffix(name).removesuffix("::"))
        words = "  ".join(part for part in ("", one_line(row.detail), scope) if part)
        return [(kind, "name"), (name, "strong"), (more, "accent"), (f"  {words}", "faint")]

    def action_fold(self) -> None:
        """Open or close the rows below this one; from one of them, close them."""
        at = self.cursor
        while at > 0 and self._rows[at].depth:
            at -= 1
        if self._rows and self._rows[at].below:
            self._open ^= {self._rows[at]}
            self._rows = self._visible()
            self.rows_changed(at)
            self._announce()

    def watch_cursor(self, old: int, new: int) -> None:
        super().watch_cursor(old, new)
        self._announce()

    def _announce(self) -> None:
        if self.current:
            self.post_message(self.Selected(self.current))
