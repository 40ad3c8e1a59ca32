"""Totals of a trace, and the load of each part of the run."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from navigator.trace.table import PHASES
from navigator.trace.timeline import Timeline, timeline
from navigator.trace.trace import Trace
from navigator.trace.wording import duration
from navigator.tui.background import ask
from navigator.tui.debounce import Debounce

_SMALL = 50_000
"""Number of rows up to which the bar is redrawn on any change; then after growth by half, and at
the end."""
_LEVELS = " ▁▂▃▄▅▆▇█"
_INKS = ("$text-primary", "$text-accent", "$text-warning", "$text-secondary")
"""Colours of the phases: forward, backward, optimizer, compile."""
_DEVICE = "$text-success"


class TimelineBar(Widget):
    """Totals, then a line for operators, coloured by phase, and one for devices."""

    DEFAULT_CSS: ClassVar[str] = """
    TimelineBar { height: auto; padding: 0 1; display: none; }
    TimelineBar.-shown { display: block; }
    """

    class Chosen(Message):
        """A moment was clicked, in microseconds from the start of the trace."""

        def __init__(self, at_us: float) -> None:
            super().__init__()
            self.at_us = at_us

    def __init__(self) -> None:
        super().__init__()
        self._timeline: Timeline | None = None
        self._is_whole = True
        self._at: float | None = None
        self._drawn_from = 0
        """The number of rows at which it is redrawn."""
        self._soon = Debounce(self, 1.0)

    def grow(self, trace: Trace, done: bool) -> None:
        """Show new rows of a trace, or the complete trace."""
        if done or len(trace) >= self._drawn_from:
            self._drawn_from = len(trace) * 3 // 2 if len(trace) > _SMALL else 0
            self._soon(partial(self._draw, trace, done))

    def _draw(self, trace: Trace, done: bool) -> None:
        parts = self.parts
        ask(self, "timeline", lambda: timeline(trace, parts), lambda found: self.show(found, done))

    def show(self, timeline: Timeline, is_whole: bool) -> None:
        """Show a run, or its beginning."""
        self._timeline, self._is_whole = timeline, is_whole
        self.set_class(bool(timeline.cpu), "-shown")
        self.refresh(layout=True)

    def mark(self, at_us: float) -> None:
        """Mark the moment of the selected row."""
        self._at = at_us
        self.refresh()

    @property
    def parts(self) -> int:
        """The number of parts that fit on a line."""
        return max(self.size.width - 2, 10) if self.size.width else 60

    def render(self) -> Content:
        shown = self._timeline
        if shown is None:
            return Content("")
        lines = [
            _totals(shown, self._is_whole),
            self._line(shown, [_cpu(part) for part in shown.cpu]),
        ]
        if shown.device:
            lines.append(self._line(shown, [(busy, _DEVICE) for busy in shown.device]))
        return Content("\n").join([line.truncate(self.parts) for line in lines])

    def _line(self, shown: Timeline, parts: list[tuple[float, str]]) -> Content:
        marked = self._marked(shown)
        pieces = [
            (_level(busy, shown.part_us), f"{style} reverse" if at == marked else style)
            for at, (busy, style) in enumerate(parts)
        ]
        return Content.assemble(*pieces)

    def _marked(self, shown: Timeline) -> int:
        if self._at is None or not shown.part_us:
            return -1
        return int((self._at - shown.start_us) / shown.part_us)

    def on_click(self, event: events.Click) -> None:
        shown = self._timeline
        if shown is not None and event.y:
            event.stop()
            self.post_message(self.Chosen(shown.start_us + (event.x - 1) * shown.part_us))


def _cpu(part: tuple[float, ...]) -> tuple[float, str]:
    """The load of a part, in the colour of its main phase."""
    return sum(part), _INKS[max(range(len(part)), key=part.__getitem__)]


def _level(busy: float, length: float) -> str:
    """A block as high as the load; the least work is visible."""
    share = min(busy / length, 1.0) if length else 0.0
    return _LEVELS[bisect_left([n / 8 for n in range(9)], share)] if share else _LEVELS[0]


def _totals(shown: Timeline, is_whole: bool) -> Content:
    inks = dict(zip((*PHASES, "device"), (*_INKS, _DEVICE), strict=True))
    words = [(f"{name} {duration(time)}  ", inks[name]) for name, time in shown.totals]
    span = f"of {duration(shown.span_us)}" + ("" if is_whole else " so far")
    return Content.assemble(*words, (span, "dim"))
