"""A view of a file with colours and line numbers, which renders visible lines only."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.selection import Selection
from textual.strip import Strip

from indexes.source.git_history import BlamedLine
from navigator.tui.source.blame import BLAME_WIDTH, blame_column, note_at
from navigator.tui.source.document import Document
from navigator.tui.source.highlight import STYLES
from navigator.tui.source.source_moves import MOVES, next_word, previous_word
from navigator.tui.widgets.line_view import LineView, overlaid

_MARGIN = 3
"""Lines kept visible above and below the cursor."""


class SourceView(LineView):
    """A file, a cursor in it, and the marked lines of the hop."""

    PREFIX = "source--"

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "source--line-number",
        "source--line-number-marked",
        "source--marked",
        "source--cursor-line",
        "source--cursor",
        "source--found",
        "source--found-current",
        *(f"source--{name}" for name in STYLES),
    }

    DEFAULT_CSS = """
    SourceView {
        scrollbar-size-vertical: 1;
        scrollbar-color: $foreground 25%;
        scrollbar-background: $background;
        scrollbar-size-horizontal: 0;
        background: $background;
        &:ansi { background: ansi_default; }

        .source--line-number { color: $text-disabled; }
        .source--line-number-marked { color: $text-accent; }
        .source--marked { background: $primary 12%; }
        .source--cursor-line { background: $foreground 8%; }
        .source--cursor { text-style: reverse; }
        .source--found { background: $warning 30%; }
        .source--found-current { background: $warning; color: black; }

        .source--comment { color: $text-muted; text-style: italic; }
        .source--string { color: $text-success; }
        .source--number { color: $text-warning; }
        .source--keyword { color: $text-accent; }
        .source--preproc { color: $text-error; }
        .source--function { color: $text-primary; text-style: bold; }
        .source--type { color: $text-secondary; }
        .source--constant { color: $text-warning; }
        .source--property { color: $text-primary; }
        .source--attribute { color: $text-error; }
        .source--label { color: $text-error; }

        &:ansi .source--marked { background: ansi_default; }
        &:ansi .source--cursor-line { background: ansi_default; text-style: bold; }
        &:ansi .source--line-number { text-style: dim; }
        &:ansi .source--comment { text-style: italic dim; }
        &:ansi .source--found-current { background: ansi_yellow; color: ansi_black; }
        &:ansi .source--found { background: ansi_bright_black; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = MOVES

    row = reactive(0, repaint=False)
    column = reactive(0, repaint=False)

    class CursorMoved(Message):
        """The cursor has moved."""

    class NameChosen(Message):
        """A name was double-clicked, to go to its definition."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    document: Document | None = None
    marked: range = range(0)
    """The rows of the hop, counted from 0."""
    found: Sequence[tuple[int, int]] = ()
    needle: str = ""

    # ------------------------------------------------------------------------ content

    def show(self, path: str, text: str, line: int = 1, end_line: int = 0) -> None:
        """Show a file with the lines from ``line`` on marked, scrolled to ``line``."""
        self.show_document(Document(path, text), line, end_line)

    def show_document(self, document: Document, line: int = 1, end_line: int = 0) -> None:
        """As ``show``, for a parsed file."""
        if document is not self.document:
            self.document = document
            self._blame, self.blamed = (), range(0)
            self.found = ()
            self._measure()
        self.marked = range(line - 1, max(line, end_line)) if line > 0 else range(0)
        self.refresh()
        self.go_to(line)

    def replace(self, document: Document) -> None:
        """Show a new version of the same file, keeping the cursor."""
        self.document = document
        self.found = document.find(self.needle) if self.needle else ()
        self._measure()
        self._place(self.row, self.column)
        self.refresh()

    def show_blame(self, lines: Sequence[BlamedLine]) -> None:
        """Show authors left of the line numbers; without lines, hide them."""
        self.show_notes(blame_column(lines), BLAME_WIDTH)
        self.blamed = range(lines[0].line, lines[-1].line + 1) if lines else range(0)

    def show_notes(self, notes: Sequence[str], width: int) -> None:
        """Show notes left of the line numbers, replacing earlier ones."""
        self._blame, self._wanted_width, self.blamed = notes, width, range(0)
        self._measure()
        self.refresh()

    blamed = range(0)
    """The lines with known authors, counted from 1."""
    _blame: Sequence[str] = ()
    _wanted_width = 0

    def _measure(self) -> None:
        if self.document is not None:
            width = self.document.width + self._gutter_width + 1
            self.virtual_size = Size(width, len(self.document.lines))

    def clear(self, message: str = "") -> None:
        """Show a message instead of a file."""
        self.document = None
        self.found = ()
        self.message = message
        self.marked = range(0)
        self.virtual_size = Size(0, 0)
        self.refresh()

    @property
    def path(self) -> str | None:
        return self.document.path if self.document else None

    @property
    def line(self) -> int:
        """The cursor's line, counted from 1; 0 without a file."""
        return self.row + 1 if self.document else 0

    @property
    def lines(self) -> Sequence[str]:
        return self.document.lines if self.document else ()

    def name_under_cursor(self) -> str:
        """The name under the cursor, with its qualifiers, or empty."""
        return self.document.name_at(self.row, self.column) if self.document else ""

    # ------------------------------------------------------------------------- moving

    def go_to(self, line: int) -> None:
        """Put the cursor on a line (from 1) and scroll it to a third of the height."""
        self._place(line - 1, None)
        top = max(0, self.row - self.size.height // 3)
        last = top + self.size.height - _MARGIN
        if len(self.marked) and self.marked.start == self.row and self.marked[-1] > last:
            top = max(0, self.row - _MARGIN)
        self.scroll_to(0, top, animate=False, force=True, immediate=True)

    def _place(self, row: int, column: int | None) -> None:
        self.row = max(0, min(row, len(self.lines) - 1))
        text = self.lines[self.row] if self.lines else ""
        if column is None:
            column = len(text) - len(text.lstrip())
        self.column = max(0, min(column, len(text) - 1))

    def watch_row(self, old: int, new: int) -> None:
        self.refresh_lines(min(old, new), 1)
        self.refresh_lines(max(old, new), 1)
        self.post_message(self.CursorMoved())

    def watch_column(self) -> None:
        self.refresh_line(self.row)
        self.post_message(self.CursorMoved())

    def show_cursor(self) -> None:
        """Scroll so that the cursor is visible, with a few lines around it."""
        margin = min(_MARGIN, max(0, (self.size.height - 1) // 2))
        top, bottom = max(0, self.row - margin), self.row + margin + 1
        region = Region(self.column, top, self._gutter_width + 1, bottom - top)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    def action_move(self, rows: int, columns: int) -> None:
        column = self.column + columns
        self._place(self.row + rows, column)
        self.show_cursor()

    def action_page(self, pages: float) -> None:
        self.action_move(int((self.size.height - 1) * pages), 0)

    def action_first(self) -> None:
        self._place(0, None)
        self.show_cursor()

    def action_last(self) -> None:
        self._place(len(self.lines) - 1, None)
        self.show_cursor()

    def action_column(self, column: int) -> None:
        text = self.lines[self.row] if self.lines else ""
        self._place(self.row, len(text) - 1 if column < 0 else column)
        self.show_cursor()

    def action_word(self, direction: int) -> None:
        move = next_word if direction > 0 else previous_word
        self._place(*move(self.lines, self.row, self.column))
        self.show_cursor()

    # ---------------------------------------------------------------------- searching

    def search(self, needle: str, row: int | None = None) -> int:
        """Mark a text's occurrences and go to the first from ``row`` on; returns their number."""
        self.needle = needle
        self.found = self.document.find(needle) if self.document and needle else ()
        if self.found:
            start = (self.row if row is None else row, 0)
            self._place(*next((at for at in self.found if at >= start), self.found[0]))
            self.show_cursor()
        self.refresh()
        return len(self.found)

    def action_found(self, direction: int) -> None:
        """Go to the next or previous occurrence, wrapping around."""
        if not self.found:
            return
        cursor = (self.row, self.column)
        if direction > 0:
            target = next((at for at in self.found if at > cursor), self.found[0])
        else:
            target = next((at for at in reversed(self.found) if at < cursor), self.found[-1])
        self._place(*target)
        self.show_cursor()
        self.refresh()

    # ------------------------------------------------------------------------ drawing

    @property
    def _gutter_width(self) -> int:
        return len(str(max(1, len(self.lines)))) + 3 + self._blame_width

    @property
    def _blame_width(self) -> int:
        """The width of authors or notes, which leaves most of the width to the source."""
        return min(self._wanted_width, self.size.width // 3) if self._blame else 0

    @property
    def row_count(self) -> int:
        return len(self.lines)

    def render_lines(self, crop: Region) -> list[Strip]:
        if self.document is not None:
            self.document.colour(range(self.top + crop.y, self.top + crop.bottom))
        return super().render_lines(crop)

    def draw_row(self, row: int, base: Style) -> Strip:
        """Line number and text, with the file position that selections need."""
        style, left = self._row_style(row, base), round(self.scroll_x)
        gutter = Strip([self._gutter(row, style)])
        room = max(0, self.size.width - gutter.cell_length)
        text = Strip(self._segments(row, style)).crop(left).adjust_cell_length(room, style)
        return Strip.join([gutter, text.apply_offsets(left, row)])

    def _gutter(self, row: int, base: Style) -> Segment:
        marked = row in self.marked
        style = base + self.letters("line-number-marked" if marked else "line-number")
        width, blame = self._gutter_width, self._blame_width
        is_first = row in (self.row, self.top)
        note = note_at(self._blame, self.blamed, row, is_first=is_first) if blame else ""
        number = f"{row + 1:>{width - 2 - blame}}{'▎' if marked else ' '} "
        return Segment(f"{note:<{blame}.{blame}}{number}"[: self.size.width], style)

    def _row_style(self, row: int, base: Style) -> Style:
        style = base + self.background_style("marked") if row in self.marked else base
        if row == self.row:
            style += self.background_style("cursor-line")
        return style

    def _segments(self, row: int, base: Style) -> Iterable[Segment]:
        """The text of a line, split where its style changes."""
        segments = self._coloured(row, base)
        for start, end, style in self._layers(row):
            segments = overlaid(segments, start, end, style)
        return segments

    def _coloured(self, row: int, base: Style) -> Iterator[Segment]:
        line, at = self.lines[row] + " ", 0
        for start, end, name in self.document.spans(row) if self.document else ():
            if start > at:
                yield Segment(line[at:start], base)
            yield Segment(line[start:end], base + self.letters(name))
            at = end
        yield Segment(line[at:], base)

    def _layers(self, row: int) -> Iterator[tuple[int, int, Style]]:
        """(first column, column after the last, style) of marks, later ones on top."""
        yield from self._found_layers(row)
        if row == self.row and self.has_focus:
            yield self.column, self.column + 1, self.letters("cursor")
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(row)) is not None:
            style = self.screen.get_component_rich_style("screen--selection")
            yield span[0], span[1] if span[1] >= 0 else len(self.lines[row]) + 1, style

    def _found_layers(self, row: int) -> list[tuple[int, int, Style]]:
        if not self.found:
            return []
        first = bisect_left(self.found, (row, 0))
        last = bisect_left(self.found, (row + 1, 0))
        column = self.column if row == self.row else -1
        size = len(self.needle)
        current = self.letters("found-current") + self.background_style("found-current")
        return [
            (at, at + size, current if at == column else self.background_style("found"))
            for _, at in self.found[first:last]
        ]

    # -------------------------------------------------------------- mouse, selection

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()
        row = event.y + self.top
        column = event.x - self._gutter_width + round(self.scroll_x)
        if row < len(self.lines) and self.text_selection is None:
            self._place(row, max(0, column))
            if event.chain == 2 and (name := self.name_under_cursor()):
                self.post_message(self.NameChosen(name))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(self.lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()
