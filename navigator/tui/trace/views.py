"""The rows of a trace on screen: as they come in, in several views, filtered."""

from __future__ import annotations

from bisect import bisect_left
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widgets import Input
from textual.worker import get_current_worker

from navigator.trace.filters import matching, parse_filter
from navigator.trace.groups import GROUPS, gather
from navigator.trace.table import OP
from navigator.trace.timeline import timeline
from navigator.trace.trace import Trace
from navigator.tui.config import Config
from navigator.tui.debounce import Debounce
from navigator.tui.screens.opening import OpeningScreen
from navigator.tui.session import Opener
from navigator.tui.trace.messages import Gathered, Matched, Timed, TraceGrown
from navigator.tui.trace.pane import TracePane
from navigator.tui.trace.timeline_bar import TimelineBar
from navigator.tui.widgets.bars import NoticeBar, ProgressLine
from navigator.tui.widgets.line_list import LineList

_SMALL = 50_000
"""Rows up to which the timeline is drawn whenever some come in; of more each time that there
are half as many again, and when they are all there."""
_VIEWS = ("tree", "flat", *GROUPS)


class TraceViews(OpeningScreen):
    """A screen with a TracePane; a subclass says what its rows lead to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "view(1)", "View", id="trace.view"),
        Binding("alt+v", "view(-1)", "View before", show=False, id="trace.view_before"),
        Binding("t", "follow_end", "Tail", show=False, id="trace.tail"),
        Binding("p", "pause", "Pause", show=False, id="trace.pause"),
    ]

    def __init__(self, opener: Opener, config: Config, title: str) -> None:
        super().__init__(opener, config)
        self.trace: Trace | None = None
        self._what = title
        self._view = 0
        self._is_paused = False
        self._is_done = False
        self._rest_until = 0.0
        self._timed_from = 0
        """The number of rows from which the timeline is drawn again."""
        self._waiting: Timer | None = None
        self._filter_soon = Debounce(self, 0.15)
        self._time_soon = Debounce(self, 1.0)

    @property
    def pane(self) -> TracePane:
        return self.query_one(TracePane)

    def has_trace(self) -> None:
        """There is a trace, or another one."""

    def go_into(self) -> None:
        """Enter was pressed on a row."""

    # ------------------------------------------------------------------------- growing

    def on_trace_grown(self, message: TraceGrown) -> None:
        self._is_done = message.done
        if self.trace is not message.trace:
            self.trace = message.trace
            self.pane.ops.set_trace(message.trace)
            self.has_trace()
            if self._view or self.pane.filter.value.strip():
                self._filter_soon(self._fill)
        elif not self._is_paused:
            self._refresh_rows()
        if message.done:
            self.query_one(ProgressLine).hide()
            self._show_problems(message.trace)
        if message.done or len(message.trace) >= self._timed_from:
            self._timed_from = len(message.trace) * 3 // 2 if len(message.trace) > _SMALL else 0
            self._time_soon(self._show_times)
        self.show_state()

    def _show_times(self) -> None:
        trace, parts = self.trace, self.pane.timeline.parts
        if trace is not None:
            self.ask("timeline", lambda: Timed(timeline(trace, parts)))

    def on_timed(self, message: Timed) -> None:
        self.pane.timeline.show(message.timeline, self._is_done)

    def on_timeline_bar_chosen(self, message: TimelineBar.Chosen) -> None:
        """Go to the first outermost row from there on."""
        if self.trace is None:
            return
        table, roots = self.trace.table, self.trace.roots()
        at = bisect_left(roots, message.at_us + (table.zero or 0.0), key=table.start.__getitem__)
        if roots:
            self.pane.ops.select(roots[min(at, len(roots) - 1)])

    def _refresh_rows(self) -> None:
        """Show what has come in, at most a tenth of the time."""
        began = monotonic()
        if began < self._rest_until:
            if self._waiting is None:
                self._waiting = self.set_timer(self._rest_until - began, self._after_rest)
            return
        self._show_new_rows()
        self._rest_until = monotonic() + 9 * (monotonic() - began)

    def _after_rest(self) -> None:
        self._waiting = None
        if not self._is_paused:
            self._refresh_rows()

    def _show_new_rows(self) -> None:
        if _VIEWS[self._view] in GROUPS or self.pane.filter.value.strip():
            self._filter_soon(self._fill)
        elif self.pane.ops.rows.is_flat:
            self._fill()
        else:
            self.pane.ops.grown()

    def _show_problems(self, trace: Trace) -> None:
        if not len(trace):
            self.pane.ops.message = "the program ran no torch operator"
            self.pane.ops.refresh()
        problems = trace.meta.problems
        if problems:
            more = f"({len(problems) - 1} more: i)" if len(problems) > 1 else ""
            self.query_one(NoticeBar).show(problems[0], more)

    def show_state(self) -> None:
        """The name, how much there is, and how it is shown."""
        rows = len(self.trace.table.kind) if self.trace else 0
        words = [f"{rows:,} rows", _VIEWS[self._view]]
        if self.pane.ops.is_following and not self._is_done:
            words.append("tail")
        if self._is_paused:
            words.append("paused")
        self.pane.show_title(self._what, " · ".join(words))

    def action_follow_end(self) -> None:
        tree = self.pane.ops
        tree.is_following = not tree.is_following
        tree.grown()
        self.show_state()

    def action_pause(self) -> None:
        self._is_paused = not self._is_paused
        if not self._is_paused and self.trace is not None:
            self._refresh_rows()
        self.show_state()

    # ------------------------------------------------------------------ views, filters

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input is self.pane.filter:
            self._filter_soon(self._fill)

    def _fill(self) -> None:
        """Ask for the rows of the view that the filter leaves."""
        trace, text, view = self.trace, self.pane.filter.value.strip(), _VIEWS[self._view]
        if trace is None:
            return
        if view == "tree" and not text:
            self._show_tree()
        elif view in GROUPS:
            self.ask("rows", lambda: _gathered(trace, view, text))
        else:
            self.ask("rows", lambda: _matched(trace, text, only_operators=view == "flat"))

    def _show_tree(self) -> None:
        tree = self.pane.ops
        here = tree.current
        tree.rows.show_tree()
        if here is not None:
            tree.rows.reveal(here)
        tree.shown_anew(here)
        self.pane.show_count("")

    def on_matched(self, message: Matched) -> None:
        if self.pane.filter.value.strip() != message.text or self.trace is None:
            return
        tree = self.pane.ops
        here = tree.current
        tree.message = f"no row matches {message.text}"
        tree.rows.show_flat(message.rows)
        tree.shown_anew(here)
        self.pane.show_count(f"{len(message.rows):,}")

    def on_gathered(self, message: Gathered) -> None:
        if message.view == _VIEWS[self._view]:
            self.pane.groups.show(message.groups)
            self.pane.show_count(f"{len(message.groups):,}")

    def action_view(self, by: int) -> None:
        """Tree, flat list, or groups."""
        self._view = (self._view + by) % len(_VIEWS)
        had_keys = self.focused in (self.pane.ops, self.pane.groups)
        self.pane.show_groups(_VIEWS[self._view] in GROUPS)
        if had_keys:
            self.set_focus(self.pane.shown)
        self._fill()
        self.show_state()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        if message.list is self.pane.ops:
            self.go_into()
        elif message.list is self.pane.groups:
            self._open_group()

    def _open_group(self) -> None:
        """The rows of a group, as a flat list."""
        group = self.pane.groups.current
        if group is None or not group.term:
            self.say("kernels are listed under the operators that launch them")
            return
        self._view = _VIEWS.index("flat")
        self.pane.show_groups(False)
        self.pane.filter.value = group.term
        self.set_focus(self.pane.ops)
        self.show_state()


def _matched(trace: Trace, text: str, *, only_operators: bool) -> Matched:
    kinds = trace.table.kind
    rows = matching(trace, parse_filter(text), lambda: get_current_worker().is_cancelled)
    return Matched(text, [row for row in rows if not only_operators or kinds[row] == OP])


def _gathered(trace: Trace, view: str, text: str) -> Gathered:
    wanted = parse_filter(text)
    rows = matching(trace, wanted, lambda: get_current_worker().is_cancelled) if wanted else None
    by = next(one for one in GROUPS if one == view)
    return Gathered(view, gather(trace, by, rows))
