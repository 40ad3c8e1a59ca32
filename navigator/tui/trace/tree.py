"""The tree of calls and operators of a trace, during and after the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.strip import Strip

from indexes.model.vocabulary import Location
from navigator.trace.model import OpKind, TraceOp
from navigator.trace.trace import Trace
from navigator.trace.wording import duration
from navigator.tui.text import clean, one_line, shorten, shorten_path
from navigator.tui.trace.rows import MOST_COUNTED, LineRows, TraceRows
from navigator.tui.widgets.line_list import LineList, Piece, fill

_STYLES: dict[OpKind, str] = {
    "call": "head",
    "op": "strong",
    "node": "accent",
    "engine": "dim",
    "annotation": "name",
    "region": "dim",
}
_PHASES = {
    "forward": (" ", ""),
    "backward": ("←", "accent"),
    "optimizer": ("↻", "name"),
    "compile": ("⚙", "faint"),
}
"""Marks of the phases in front of rows."""
_PATH_PARTS = 28
"""Maximum width of file and line at the end of a row."""
_ENGINE = "autograd::engine::evaluate_function: "


class TraceTree(LineList):
    """Rows of a trace; the cursor can follow the end while rows arrive."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "fold", "Fold", show=False, id="trace.fold"),
        Binding("right,l", "into", "Expand", show=False, id="trace.into"),
        Binding("left,h", "out", "Collapse", show=False, id="trace.out"),
        Binding("asterisk", "open_all", "Open all below", key_display="*", id="trace.open_all"),
    ]

    line_text: Callable[[Location], str] = staticmethod(lambda _: "")
    """The text of a line of the program; empty if it can't be read."""

    trace: Trace | None = None
    rows: TraceRows
    is_following = False
    """Whether the cursor follows the last row."""
    is_touched = False
    """Whether the user has moved the cursor."""

    def set_trace(self, trace: Trace) -> None:
        """Show a trace that may still grow, or its new version."""
        entry = self.entry
        opened = self.rows.opened if self.trace is not None else None
        self.trace = trace
        self.rows = TraceRows(trace, opened)
        if opened is None and len(trace.roots()) == 1:
            self.rows.toggle(trace.roots()[0])
        self.grown()
        if entry is not None and entry >= 0:
            self.select(entry)

    def grown(self) -> None:
        """After rows were added: the cursor stays on its row, or at the end."""
        if self.trace is None:
            return
        entry = self.entry
        self.rows.refresh()
        place = self.rows.at(entry) if entry is not None else None
        self.virtual_size = Size(0, len(self.rows))
        if self.is_following and len(self.rows):
            self.move_to(len(self.rows) - 1, -1)
        elif place is not None and place != self.cursor:
            self.set_reactive(LineList.cursor, place)
        self.refresh()
        if entry is None and self.current is not None:
            self._announce()

    def shown_anew(self, row: int | None) -> None:
        """After other rows are shown: put the cursor on this one if possible."""
        place = self.rows.at(row) if row is not None else None
        self.rows_changed(place or 0)
        self._announce()

    @property
    def row_count(self) -> int:
        return len(self.rows) if self.trace is not None else 0

    @property
    def entry(self) -> int | None:
        """The id of the row or line under the cursor."""
        return self.rows.ids[self.cursor] if self.cursor < self.row_count else None

    @property
    def current(self) -> int | None:
        """The id of the row under the cursor; for a line, of its longest row."""
        entry = self.entry
        line = self.rows.line(entry) if entry is not None else None
        if line is None or self.trace is None:
            return entry
        return max(line.rows, key=self.trace.table.duration.__getitem__)

    def line_here(self) -> LineRows | None:
        """The line of the program under the cursor, or None."""
        entry = self.entry
        return self.rows.line(entry) if entry is not None else None

    def select(self, row: int) -> bool:
        """Put the cursor on a row, opening its ancestors."""
        if self.rows.at(row) is None and not self.rows.is_flat:
            self.rows.reveal(row)
            self.virtual_size = Size(0, len(self.rows))
        place = self.rows.at(row)
        if place is not None:
            self.move_to(place)
            self.refresh()
        return place is not None

    def show_cursor(self) -> None:
        """Scroll so that the cursor is visible below the line that led to it."""
        super().show_cursor()
        if self.trace is not None and self.cursor == self.top and self._pinned(self.top) >= 0:
            self.scroll_to(y=self.top - 1, animate=False, force=True, immediate=True)

    # ------------------------------------------------------------------------ drawing

    def row(self, index: int, width: int) -> Iterable[Piece]:
        assert self.trace is not None
        row = self.rows.ids[index]
        guide = "  " * min(self.rows.depths[index], max(width // 8, 4))
        line = self.rows.line(row)
        if line is not None:
            return self._line_row(line, guide + self._fold_mark(row), width, index)
        op = self.trace.op(row)
        mark, style = _PHASES.get(op.phase, ("⚙", "dim"))
        left: list[Piece] = [(f"{mark} ", style), (guide + self._fold_mark(row), "faint")]
        left += _name(op)
        right = _right(op, width, with_line=self.rows.is_flat)
        return fill(left, [*self._hidden(row), *right], width)

    def _line_row(self, line: LineRows, before: str, width: int, index: int) -> list[Piece]:
        """A line of the program, its text if readable, and the time of its rows."""
        assert self.trace is not None
        total = sum(map(self.trace.table.duration.__getitem__, line.rows))
        name = clean(f"{line.location.path.rpartition('/')[2]}:{line.location.line}")
        text = one_line(self.line_text(line.location))
        left = [("  ", ""), (before, "faint"), (name, "name"), (f"  {text}", "dim")]
        return fill(
            left, [*self._hidden(self.rows.ids[index]), (f" {duration(total):>7} ", "dim")], width
        )

    def _hidden(self, row: int) -> list[Piece]:
        """The number of operators hidden below a folded row or line."""
        if self.rows.is_flat or not self.rows.has_children(row) or self.rows.is_open(row):
            return []
        count = self.rows.operators_below(row)
        return [(f" +{count:,}{'…' if count >= MOST_COUNTED else ''}", "dim")] if count else []

    def _fold_mark(self, row: int) -> str:
        if self.rows.is_flat or not self.rows.has_children(row):
            return "  "
        return "▾ " if self.rows.is_open(row) else "▸ "

    def render_line(self, y: int) -> Strip:
        """The first screen line keeps showing the program's line of the rows below."""
        pinned = self._pinned(self.top) if y == 0 else -1
        return self.draw_row(pinned, self.rich_style) if pinned >= 0 else super().render_line(y)

    def _pinned(self, top: int) -> int:
        """The line that led to the first visible row, if it is scrolled out."""
        if self.trace is None or not 0 < top < self.row_count:
            return -1
        return self.rows.line_above(top)

    # -------------------------------------------------------------------------- moves

    def watch_cursor(self, old: int, new: int) -> None:
        super().watch_cursor(old, new)
        self._announce()

    def on_key(self) -> None:
        self.is_touched = True

    def _announce(self) -> None:
        if self.current is not None:
            self.post_message(self.Moved())

    def _toggle(self, row: int) -> None:
        self.rows.toggle(row)
        self.virtual_size = Size(0, len(self.rows))
        self.refresh()

    def action_fold(self) -> None:
        """Open or fold a row; for a leaf, its parent."""
        row = self.entry
        if row is None or self.rows.is_flat:
            return
        if self.rows.has_children(row):
            self._toggle(row)
        else:
            self.action_out()

    def action_open_all(self) -> None:
        if self.entry is not None and not self.rows.is_flat:
            self.rows.open_all(self.entry)
            self.virtual_size = Size(0, len(self.rows))
            self.refresh()

    def action_into(self) -> None:
        """Open a folded row; from an open row go to its first child."""
        row = self.entry
        if row is None:
            return
        if self.rows.is_flat or not self.rows.has_children(row):
            self.action_choose()
        elif self.rows.is_open(row):
            self.action_move(1)
        else:
            self._toggle(row)

    def action_out(self) -> None:
        """Fold an open row; from another one go to its parent."""
        row = self.entry
        if row is None or self.trace is None:
            return
        if self.rows.is_open(row) and not self.rows.is_flat:
            self._toggle(row)
        elif (above := self._above()) is not None:
            self.select(above)

    def _above(self) -> int | None:
        """The parent of the selected row, or its line of the program."""
        assert self.trace is not None
        depths, at = self.rows.depths, self.cursor
        if self.rows.is_flat:
            return self.trace.op(self.rows.ids[at]).parent
        outer = (n for n in range(at - 1, -1, -1) if depths[n] < depths[at])
        found = next(outer, None)
        return self.rows.ids[found] if found is not None else None

    def action_move(self, by: int) -> None:
        self.is_following = False
        super().action_move(by)

    def action_page(self, pages: float) -> None:
        self.is_following = False
        super().action_page(pages)

    def clicked(self, index: int, times: int) -> None:
        self.is_following, self.is_touched = False, True
        if index == self.top and (pinned := self._pinned(index)) >= 0:
            index = pinned
        if times == 2 and self.rows.has_children(self.rows.ids[index]):
            self.cursor = index
            self.action_fold()
        else:
            super().clicked(index, times)


def _name(op: TraceOp) -> list[Piece]:
    name = op.name.removeprefix("aten::") if op.kind == "op" else op.name
    if op.kind == "engine":
        name = f"engine · {name.removeprefix(_ENGINE)}"
    pieces: list[Piece] = [(one_line(name), _STYLES[op.kind])]
    if op.overload:
        pieces.append((clean(f".{op.overload}"), "dim"))
    if op.origin:
        pieces.append((f" {op.origin}", "warn"))
    if op.unfinished:
        pieces.append((" died in it", "bad"))
    inputs = ", ".join(str(value) for value in op.inputs)
    if inputs:
        pieces.append((f" {one_line(inputs)}", "faint"))
    return pieces


def _right(op: TraceOp, width: int, with_line: bool) -> list[Piece]:
    """The Node, duration and the user's line, as far as they fit."""
    pieces: list[Piece] = []
    if op.node is not None and op.kind == "op" and width > 80:
        pieces.append((f" {shorten(clean(op.node), 26)}", "accent"))
    pieces.append((f" {duration(op.duration_us):>7}", ""))
    if op.user is not None and with_line and width > 56:
        place = clean(f"{op.user.path.rpartition('/')[2]}:{op.user.line}")
        pieces.append((f" {shorten_path(place, _PATH_PARTS)}", "dim"))
    return [*pieces, (" ", "")]
