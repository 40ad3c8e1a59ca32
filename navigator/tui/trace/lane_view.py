"""A run as zoomable lanes over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from navigator.trace.figures.lanes import Item, Lane
from navigator.trace.wording import duration
from navigator.tui.text import one_line, shorten
from navigator.tui.widgets.line_list import LineList

_NAMES = 24
"""Width of the lanes' names and their load."""
_LEVELS = "▁▂▃▄▅▆▇█"
_COLOURS = {
    "forward": "name",
    "backward": "accent",
    "optimizer": "warn",
    "compile": "dim",
    "device": "good",
    "idle": "bad",
    "path": "match",
}
_READABLE = 4
"""Minimum width of spans with a name."""
_SHORTEST = 0.01
"""Smallest time on screen in microseconds."""


class LaneView(LineList):
    """A time scale, then one lane a row; the cursor is on a span."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("plus,equals_sign", "zoom_time(0.5)", "Zoom in", key_display="+", id="lanes.in"),
        Binding("minus", "zoom_time(2)", "Zoom out", key_display="-", id="lanes.out"),
        Binding("0", "all", "All of it", id="lanes.all"),
        Binding("h", "pan(-0.25)", "Earlier", id="lanes.earlier"),
        Binding("l", "pan(0.25)", "Later", id="lanes.later"),
        Binding("right", "span(1)", "Next span", show=False, id="lanes.next"),
        Binding("left", "span(-1)", "Previous span", show=False, id="lanes.previous"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._lanes: Sequence[Lane] = ()
        self._zero = 0.0
        self._whole = (0.0, 1.0)
        self._window = (0.0, 1.0)
        self._at = 0
        """Index of the selected span in its lane."""

    # ------------------------------------------------------------------------- what is shown

    def show(self, lanes: Sequence[Lane], zero: float) -> None:
        """Show a run, from ``zero`` on; the section on screen stays if lanes have grown."""
        was_whole, old = self._window == self._whole, self.item
        self._lanes, self._zero = lanes, zero
        start = min((lane.items[0].start for lane in lanes), default=0.0)
        end = max((lane.items[-1].end for lane in lanes), default=1.0)
        self._whole = (start, max(end, start + _SHORTEST))
        if was_whole:
            self._window = self._whole
        self.rows_changed(max(self.cursor, 1))
        if old is not None:
            self._go_to(old.start)

    def add(self, lanes: Sequence[Lane]) -> None:
        """Append lanes."""
        shown = [lane for lane in self._lanes if lane not in lanes]
        self.show([*shown, *lanes], self._zero)

    @property
    def row_count(self) -> int:
        return len(self._lanes) + 1 if self._lanes else 0

    def can_rest(self, index: int) -> bool:
        return index > 0

    @property
    def lane(self) -> Lane | None:
        return self._lanes[self.cursor - 1] if 0 < self.cursor < self.row_count else None

    @property
    def item(self) -> Item | None:
        """The span under the cursor."""
        lane = self.lane
        return lane.items[self._at] if lane is not None and self._at < len(lane.items) else None

    @property
    def span(self) -> tuple[float, float]:
        """Start and end of the selected span, from the start of the trace."""
        item = self.item
        return (item.start - self._zero, item.end - self._zero) if item is not None else (0.0, 0.0)

    @property
    def description(self) -> str:
        """The name and duration of the selected span."""
        if self.lane is None or self.item is None:
            return ""
        start, end = self.span
        took = f"{duration(end - start)} from {duration(max(start, 0.0))}"
        return f"{self.lane.name}: {self.item.label} · {took}"

    @property
    def window(self) -> tuple[float, float]:
        """The section on screen, in microseconds from the start of the trace."""
        return self._window[0] - self._zero, self._window[1] - self._zero

    def select_row(self, row: int) -> None:
        """Put the cursor on the span of a row, if it has one."""
        for number, lane in enumerate(self._lanes, 1):
            for at, item in enumerate(lane.items):
                if item.row == row and lane.is_work:
                    self.cursor = number
                    self._at = at
                    self._scroll_to_span()
                    return

    # ---------------------------------------------------------------------------- drawing

    def draw_row(self, row: int, base: Style) -> Strip:
        width = max(self.size.width - _NAMES - 1, 10)
        if row == 0:
            segments = self._scale(width, base)
        else:
            segments = [*self._heading(row, base), *self._cells(row, width, base)]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def _scale(self, width: int, base: Style) -> list[Segment]:
        """The start and the length of the section on screen."""
        start, end = self.window
        left, right = f"│{duration(max(start, 0.0))}", f"{duration(max(end, 0.0))}│"
        span = f"{duration(end - start)} on screen"
        gap = width - len(left) - len(right)
        text = left + span.center(gap) if gap > len(span) else left
        return [Segment(" " * _NAMES + shorten(text + right, width), base + self.letters("dim"))]

    def _heading(self, row: int, base: Style) -> list[Segment]:
        """A lane's name, and its load."""
        lane = self._lanes[row - 1]
        start, end = self._window
        share = f"{lane.busy(start, end) / (end - start):>4.0%}"
        name = one_line(lane.name) if not lane.depth else f"{'  ' * lane.depth}└"
        style = base + self.letters("head" if row == self.cursor else "dim")
        text = shorten(name, _NAMES - 6).ljust(_NAMES - 5)
        return [Segment(text, style), Segment(f"{share} ", base + self.letters("dim"))]

    def _cells(self, row: int, width: int, base: Style) -> list[Segment]:
        lane, (start, end) = self._lanes[row - 1], self._window
        cell = (end - start) / width
        chosen = self._at if row == self.cursor else -1
        segments: list[Segment] = []
        at = 0
        while at < width:
            left = start + at * cell
            found = lane.within(left, left + cell)
            if not found:
                segments.append(Segment("·" if lane.is_work else " ", base + self.letters("faint")))
                at += 1
                continue
            item = lane.items[found[0]]
            style = base + self.letters(_COLOURS.get(item.colour, "dim"))
            columns = min(int((item.end - start) / cell + 0.5), width) - at
            if len(found) == 1 and columns >= _READABLE:
                label = shorten(one_line(item.label), columns - 1).ljust(columns)
                segments.append(Segment(label, self._styled(style, found[0] == chosen, bar=True)))
                at += columns
                continue
            share = min(lane.busy(left, left + cell) / cell, 1.0)
            level = _LEVELS[min(int(share * len(_LEVELS)), len(_LEVELS) - 1)]
            segments.append(Segment(level, self._styled(style, chosen in found)))
            at += 1
        return segments

    def _styled(self, style: Style, is_chosen: bool, *, bar: bool = False) -> Style:
        if is_chosen:
            return self.letters("cursor") + self.background_style("cursor")
        return style + Style(reverse=True) if bar else style

    # ------------------------------------------------------------------------------ moves

    def watch_cursor(self, old: int, new: int) -> None:
        """In another lane, select the span at the same time."""
        if 0 < old < self.row_count and 0 < new < self.row_count:
            items = self._lanes[old - 1].items
            if self._at < len(items):
                current = items[self._at]
                left, right = self._window
                middle = (max(current.start, left) + min(current.end, right)) / 2
                self._at = self._lanes[new - 1].at(middle)
        super().watch_cursor(old, new)
        self._scroll_to_span()

    def _go_to(self, moment: float) -> None:
        if self.lane is not None:
            self._at = self.lane.at(moment)
            self.refresh()

    def _scroll_to_span(self) -> None:
        """Scroll the span into view."""
        item, (start, end) = self.item, self._window
        if item is not None and not (item.start < end and item.end > start):
            self._show_window((item.start + item.end) / 2 - (end - start) / 2, end - start)
        self.refresh()
        self.post_message(self.Moved())

    def action_span(self, by: int) -> None:
        """Go to the next span in another column of the screen."""
        lane, item = self.lane, self.item
        if lane is None or item is None:
            return
        cell = (self._window[1] - self._window[0]) / max(self.size.width - _NAMES - 1, 10)
        moment = item.end + cell if by > 0 else item.start - cell
        at = lane.at(moment)
        self._at = min(max(self._at + by, 0), len(lane.items) - 1) if at == self._at else at
        self._scroll_to_span()

    def action_zoom_time(self, by: float) -> None:
        """Zoom by a factor around the cursor."""
        item, (start, end) = self.item, self._window
        middle = (start + end) / 2
        if item is not None and item.start < end and item.end > start:
            middle = (max(item.start, start) + min(item.end, end)) / 2
        length = (end - start) * by
        self._show_window(middle - (middle - start) * by, length)

    def action_pan(self, by: float) -> None:
        start, end = self._window
        self._show_window(start + (end - start) * by, end - start)

    def action_all(self) -> None:
        self._window = self._whole
        self.refresh()

    def _show_window(self, start: float, length: float) -> None:
        first, last = self._whole
        length = min(max(length, _SHORTEST), last - first)
        start = min(max(start, first), last - length)
        self._window = (start, start + length)
        self.refresh()

    # ------------------------------------------------------------------------------ mouse

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()
        index = event.y + self.top
        if not 0 < index < self.row_count:
            return
        self.cursor = index
        start, end = self._window
        cells = max(self.size.width - _NAMES - 1, 10)
        self._go_to(start + (event.x - _NAMES + 0.5) * (end - start) / cells)
        self.post_message(self.Moved())
        if event.chain == 2:
            self.action_choose()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        if event.ctrl or not self.allow_vertical_scroll:
            self._stop(event)
            self.action_zoom_time(0.5)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        if event.ctrl or not self.allow_vertical_scroll:
            self._stop(event)
            self.action_zoom_time(2)

    def _stop(self, event: events.MouseEvent) -> None:
        event.stop()
        event.prevent_default()
