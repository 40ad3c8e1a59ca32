"""A list with a cursor, drawn line by line."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from navigator.tui.text import shorten
from navigator.tui.widgets.line_view import LineView

Piece = tuple[str, str]
"""A text and the name of its style; empty for the list's own style."""


class LineList(LineView):
    """Rows with a cursor. Subclasses provide the number and contents of rows."""

    ALLOW_SELECT = False
    PREFIX = "line-list--"

    STYLES: ClassVar[tuple[str, ...]] = (
        "strong",
        "dim",
        "faint",
        "good",
        "warn",
        "bad",
        "accent",
        "name",
        "head",
        "match",
    )

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "line-list--cursor",
        "line-list--cursor-blurred",
        "line-list--hover",
        *(f"line-list--{name}" for name in STYLES),
    }

    DEFAULT_CSS = """
    LineList {
        scrollbar-size-vertical: 1;
        scrollbar-color: $foreground 25%;
        scrollbar-background: $background;
        overflow-x: hidden;
        background: $background;
        &:ansi { background: ansi_default; }

        .line-list--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
        .line-list--cursor-blurred {
            background: $block-cursor-blurred-background;
        }
        .line-list--hover { background: $block-hover-background; }
        .line-list--strong { text-style: bold; }
        .line-list--dim { color: $text-muted; }
        .line-list--faint { color: $text-disabled; }
        .line-list--good { color: $text-success; }
        .line-list--warn { color: $text-warning; }
        .line-list--bad { color: $text-error; }
        .line-list--accent { color: $text-accent; }
        .line-list--name { color: $text-primary; }
        .line-list--head { color: $text-secondary; text-style: bold; }
        .line-list--match { color: $text-accent; text-style: bold; }

        &:ansi .line-list--cursor-blurred { background: ansi_bright_black; }
        &:nocolor .line-list--cursor-blurred { background: $foreground 25%; }
        &:ansi .line-list--dim { text-style: dim; }
        &:ansi .line-list--faint { text-style: dim; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False, id="cursor.down"),
        Binding("up,k", "move(-1)", "Up", show=False, id="cursor.up"),
        Binding("ctrl+d", "page(0.5)", "Half a page down", show=False, id="cursor.half_down"),
        Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False, id="cursor.half_up"),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False, id="cursor.page_down"),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False, id="cursor.page_up"),
        Binding("home", "first", "First", show=False, id="cursor.first"),
        Binding("end,G", "last", "Last", show=False, id="cursor.last"),
        Binding("enter", "choose", "Choose", show=False, id="cursor.choose"),
    ]

    cursor = reactive(0, repaint=False)
    hover = reactive(-1, repaint=False)

    class Chosen(Message):
        """A row was chosen by a key or a double click."""

        def __init__(self, sender: LineList) -> None:
            super().__init__()
            self.list = sender

    class Left(Message):
        """The user leaves the list outwards."""

        def __init__(self, sender: LineList) -> None:
            super().__init__()
            self.list = sender

    class Moved(Message):
        """The cursor is on another item; sent by lists with a detail view."""

    # ------------------------------------------------------------ what subclasses define

    def row(self, index: int, width: int) -> Iterable[Piece]:
        """The pieces of a row, at most ``width`` cells."""
        raise NotImplementedError

    def can_rest(self, index: int) -> bool:
        """Whether the cursor can be on a row; false for some headings."""
        return True

    def has_cursor(self, row: int) -> bool:
        """Whether a row belongs to the selected item."""
        return row == self.cursor

    def moved(self) -> None:
        """Called when the cursor has moved, before the next repaint."""

    # ------------------------------------------------------------------------- rows

    def rows_changed(self, cursor: int = 0) -> None:
        """Redraw with the cursor on a row, after the rows have changed."""
        self.virtual_size = Size(0, self.row_count)
        self.set_reactive(LineList.hover, -1)
        self.set_reactive(LineList.cursor, self._nearest(cursor, 1))
        self.show_cursor()
        self.refresh()

    def _nearest(self, index: int, step: int) -> int:
        """The nearest row to ``index`` for the cursor, in direction ``step`` first."""
        count = self.row_count
        index = max(0, min(index, count - 1))
        below, above = range(index, count), range(min(index, count - 1), -1, -1)
        order = chain(below, above) if step > 0 else chain(above, below)
        return next((row for row in order if self.can_rest(row)), 0)

    def move_to(self, index: int, step: int = 1) -> None:
        """Put the cursor on a row, as a key would."""
        if self.row_count:
            self.cursor = self._nearest(index, step)

    def watch_cursor(self, old: int, new: int) -> None:
        self.refresh_line(old)
        self.refresh_line(new)
        self.show_cursor()
        if new < self.row_count:
            self.moved()

    def show_cursor(self) -> None:
        """Scroll so that the cursor is visible, with a heading above the first row."""
        if not self.size.height:  # still hidden, so there is nothing to scroll
            return
        top = self.cursor
        while top > 0 and not self.can_rest(top - 1):
            top -= 1
        if self.cursor - top >= self.size.height:
            top = self.cursor
        region = Region(0, top, 1, self.cursor - top + 1)
        self.scroll_to_region(region, animate=False, force=True, immediate=True, x_axis=False)

    def on_resize(self) -> None:
        self.show_cursor()

    # ---------------------------------------------------------------------- drawing

    def draw_row(self, row: int, base: Style) -> Strip:
        style, has_cursor = base, self.has_cursor(row)
        if has_cursor and self.has_focus:
            style += self.letters("cursor") + self.background_style("cursor")
        elif has_cursor or row == self.hover:
            style += self.background_style("cursor-blurred" if has_cursor else "hover")
        is_plain = has_cursor and self.has_focus
        segments = [
            Segment(text, style if is_plain or not name else style + self.letters(name))
            for text, name in self.row(row, self.size.width)
        ]
        return Strip(segments).adjust_cell_length(self.size.width, style)

    # ------------------------------------------------------------------------ input

    def action_move(self, by: int) -> None:
        self.move_to(self.cursor + by, by)

    def action_page(self, pages: float) -> None:
        rows = max(1, int((self.size.height - 1) * abs(pages)))
        self.move_to(self.cursor + (rows if pages > 0 else -rows), 1 if pages > 0 else -1)

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(self.row_count - 1, -1)

    def action_choose(self) -> None:
        if self.row_count:
            self.post_message(self.Chosen(self))

    def action_out(self) -> None:
        self.post_message(self.Left(self))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.hover = self._row_at(event)

    def on_leave(self) -> None:
        self.hover = -1

    def watch_hover(self, old: int, new: int) -> None:
        self.refresh_line(old)
        self.refresh_line(new)

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()
        index = self._row_at(event)
        if index >= 0:
            self.clicked(index, event.chain)

    def clicked(self, index: int, times: int) -> None:
        """Called on a click; the second click chooses the row."""
        if self.can_rest(index):
            self.cursor = index
            if times == 2:
                self.action_choose()

    def _row_at(self, event: events.MouseEvent) -> int:
        index = event.y + self.top
        return index if 0 <= index < self.row_count else -1


def fill(left: list[Piece], right: list[Piece], width: int) -> list[Piece]:
    """``left`` and, at the end of the line, ``right``; ``left`` is cut if needed."""
    room = width - sum(cell_len(text) for text, _ in right)
    shown = cut(left, room)
    gap = room - sum(cell_len(text) for text, _ in shown)
    return [*shown, (" " * gap, ""), *right]


def cut(pieces: list[Piece], width: int) -> list[Piece]:
    """The pieces that fit ``width`` cells, the last one shortened."""
    shown: list[Piece] = []
    for text, name in pieces:
        if cell_len(text) > width:
            if width > 0:
                shown.append((shorten(text, width), name))
            break
        shown.append((text, name))
        width -= cell_len(text)
    return shown
