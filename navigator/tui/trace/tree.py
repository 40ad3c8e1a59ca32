"""The calls and operators of a trace, one a row, while they come in and afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message

from navigator.trace.model import OpKind, TraceOp
from navigator.trace.trace import Trace
from navigator.trace.wording import duration
from navigator.tui.text import clean, one_line, shorten, shorten_path
from navigator.tui.trace.rows import TraceRows
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
"""A mark in front of each row for the part of the step it belongs to."""
_PATH_PARTS = 28
"""The most that a file and line take at the end of a row."""
_ENGINE = "autograd::engine::evaluate_function: "


class TraceTree(LineList):
    """Rows of a trace with a cursor that can stay at the end while rows come in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "fold", "Fold", show=False, id="trace.fold"),
        Binding("right,l", "into", "Expand", show=False, id="trace.into"),
        Binding("left,h", "out", "Collapse", show=False, id="trace.out"),
        Binding("asterisk", "open_all", "Open all below", key_display="*", id="trace.open_all"),
    ]

    class Selected(Message):
        """The cursor is on another row."""

        def __init__(self, tree: TraceTree, row: int) -> None:
            super().__init__()
            self.tree = tree
            self.row = row

        @property
        def control(self) -> TraceTree:
            return self.tree

    trace: Trace | None = None
    rows: TraceRows
    is_following = False
    """Whether the cursor stays on the last row."""

    def set_trace(self, trace: Trace) -> None:
        """Show a trace, whose rows may still be coming in, or more of the one that was shown."""
        here = self.current
        opened = self.rows.opened if self.trace is not None else None
        self.trace = trace
        self.rows = TraceRows(trace, opened)
        if opened is None and len(trace.roots()) == 1:
            self.rows.toggle(trace.roots()[0])
        self.grown()
        if here is not None:
            self.select(here)

    def grown(self) -> None:
        """Rows were added: the cursor stays on its row, or at the end."""
        if self.trace is None:
            return
        here = self.current
        self.rows.refresh()
        place = self.rows.at(here) if here is not None else None
        self.virtual_size = Size(0, len(self.rows))
        if self.is_following and len(self.rows):
            self.move_to(len(self.rows) - 1, -1)
        elif place is not None and place != self.cursor:
            self.set_reactive(LineList.cursor, place)
        self.refresh()
        if here is None and self.current is not None:
            self._announce()

    def shown_anew(self, row: int | None) -> None:
        """Other rows are shown: put the cursor on this one if it is among them."""
        place = self.rows.at(row) if row is not None else None
        self.rows_changed(place or 0)
        self._announce()

    @property
    def row_count(self) -> int:
        return len(self.rows) if self.trace is not None else 0

    @property
    def current(self) -> int | None:
        """The id of the row under the cursor."""
        return self.rows.ids[self.cursor] if self.cursor < self.row_count else None

    def select(self, row: int) -> bool:
        """Put the cursor on a row, opening what it is under."""
        if self.rows.at(row) is None and not self.rows.is_flat:
            self.rows.reveal(row)
            self.virtual_size = Size(0, len(self.rows))
        place = self.rows.at(row)
        if place is not None:
            self.move_to(place)
        return place is not None

    # ------------------------------------------------------------------------ drawing

    def row(self, index: int, width: int) -> Iterable[Piece]:
        assert self.trace is not None
        row = self.rows.ids[index]
        op = self.trace.op(row)
        mark, style = _PHASES[op.phase]
        guide = "  " * min(self.rows.depths[index], max(width // 8, 4))
        left: list[Piece] = [(f"{mark} ", style), (guide + self._fold_mark(row), "faint")]
        left += _name(op)
        right = _right(op, width, with_line=op.kind == "call" or self.rows.is_flat)
        return fill(left, right, width)

    def _fold_mark(self, row: int) -> str:
        if self.rows.is_flat or not self.rows.has_children(row):
            return "  "
        return "▾ " if self.rows.is_open(row) else "▸ "

    # -------------------------------------------------------------------------- moves

    def watch_cursor(self, old: int, new: int) -> None:
        super().watch_cursor(old, new)
        self._announce()

    def _announce(self) -> None:
        if self.current is not None:
            self.post_message(self.Selected(self, self.current))

    def _toggle(self, row: int) -> None:
        self.rows.toggle(row)
        self.virtual_size = Size(0, len(self.rows))
        self.refresh()

    def action_fold(self) -> None:
        """Open or fold a row; a leaf folds what it is under."""
        row = self.current
        if row is None or self.rows.is_flat:
            return
        if self.rows.has_children(row):
            self._toggle(row)
        else:
            self.action_out()

    def action_open_all(self) -> None:
        if self.current is not None and not self.rows.is_flat:
            self.rows.open_all(self.current)
            self.virtual_size = Size(0, len(self.rows))
            self.refresh()

    def action_into(self) -> None:
        """Open what is folded; from an open row go on to the first below it."""
        row = self.current
        if row is None:
            return
        if self.rows.is_flat or not self.rows.has_children(row):
            self.action_choose()
        elif self.rows.is_open(row):
            self.action_move(1)
        else:
            self._toggle(row)

    def action_out(self) -> None:
        """Fold an open row; from another go to what it stands under."""
        row = self.current
        if row is None or self.trace is None:
            return
        if self.rows.is_open(row) and not self.rows.is_flat:
            self._toggle(row)
        elif (parent := self.trace.op(row).parent) is not None:
            self.select(parent)

    def action_move(self, by: int) -> None:
        self.is_following = False
        super().action_move(by)

    def action_page(self, pages: float) -> None:
        self.is_following = False
        super().action_page(pages)

    def clicked(self, index: int, times: int) -> None:
        self.is_following = False
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
    inputs = ", ".join(str(value) for value in op.inputs)
    if inputs:
        pieces.append((f" {one_line(inputs)}", "faint"))
    return pieces


def _right(op: TraceOp, width: int, with_line: bool) -> list[Piece]:
    """The Node, how long it took, and where in the user's program, as there is room."""
    pieces: list[Piece] = []
    if op.node is not None and op.kind == "op" and width > 80:
        pieces.append((f" {shorten(clean(op.node), 26)}", "accent"))
    pieces.append((f" {duration(op.duration_us):>7}", ""))
    if op.user is not None and with_line and width > 56:
        place = clean(f"{op.user.path.rpartition('/')[2]}:{op.user.line}")
        pieces.append((f" {shorten_path(place, _PATH_PARTS)}", "dim"))
    return [*pieces, (" ", "")]
