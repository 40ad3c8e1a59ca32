"""A trace: filter above, rows or groups, what is known of the row under the cursor."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Label
from textual.worker import get_current_worker

from navigator.trace.filters import matching, parse_filter
from navigator.trace.groups import GROUPS, Group, gather
from navigator.trace.table import OP
from navigator.trace.timeline import timeline
from navigator.trace.trace import Trace
from navigator.tui.asking import ask, say
from navigator.tui.debounce import Debounce
from navigator.tui.trace.detail import TraceDetail
from navigator.tui.trace.group_list import GroupList
from navigator.tui.trace.timeline_bar import TimelineBar
from navigator.tui.trace.tree import TraceTree
from navigator.tui.widgets.bars import PaneTitle
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.line_list import LineList
from navigator.tui.widgets.pane import MainPane

_SMALL = 50_000
"""Rows up to which the timeline is drawn whenever some come in; of more each time that there
are half as many again, and when they are all there."""
_VIEWS = ("tree", "flat", *GROUPS)


class TracePane(MainPane):
    """The rows of a trace as they come in, in several views, filtered."""

    NAME = "trace"

    DEFAULT_CSS: ClassVar[str] = """
    TracePane {
        #filter-line { height: 1; background: $surface; }
        #filter-line:ansi { background: ansi_default; }
        FilterInput { width: 1fr; }
        #count { color: $text-muted; padding: 0 1; width: auto; }
        TraceTree, GroupList { height: 1fr; }
        GroupList { display: none; }
        &.-groups TraceTree, &.-groups TraceDetail { display: none; }
        &.-groups GroupList { display: block; }
    }
    """

    class Selected(Message):
        """The cursor is on another row."""

    def __init__(self, title: str, waiting: str) -> None:
        """``waiting`` is said while there are no rows."""
        super().__init__()
        self.trace: Trace | None = None
        self._title = title
        self._waiting = waiting
        self._view = _VIEWS[0]
        self._is_paused = False
        self._is_done = False
        self.is_asked = False
        """Whether the program waits for input."""
        self._rest_until = 0.0
        self._timed_from = 0
        """The number of rows from which the timeline is drawn again."""
        self._timer: Timer | None = None
        self._fill_soon = Debounce(self, 0.15)
        self._time_soon = Debounce(self, 1.0)

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        with Horizontal(id="filter-line"):
            yield FilterInput(
                placeholder="filter: words, phase:backward, node:, module:, dur:>1ms",
                target=TraceTree,
                at_once=lambda: self.screen.set_focus(self.list),
            )
            yield Label("", id="count", markup=False)
        yield TimelineBar()
        yield TraceTree()
        yield GroupList()
        yield TraceDetail()

    def on_mount(self) -> None:
        self.ops.message = self._waiting
        self.show_state()

    @property
    def filter(self) -> FilterInput:
        return self.query_one(FilterInput)

    @property
    def ops(self) -> TraceTree:
        return self.query_one(TraceTree)

    @property
    def groups(self) -> GroupList:
        return self.query_one(GroupList)

    @property
    def timeline(self) -> TimelineBar:
        return self.query_one(TimelineBar)

    @property
    def detail(self) -> TraceDetail:
        return self.query_one(TraceDetail)

    @property
    def list(self) -> LineList:
        return self.groups if self.has_class("-groups") else self.ops

    @property
    def text(self) -> str:
        """What is in the filter line."""
        return self.filter.value.strip()

    # ------------------------------------------------------------------------- growing

    def grow(self, trace: Trace, *, done: bool) -> None:
        """Show a trace, or what has come in of the one that is shown."""
        self._is_done = done
        if self.trace is not trace:
            self.trace = trace
            self.ops.set_trace(trace)
            if self._view != "tree" or self.text:
                self._fill_soon(self._fill)
        elif not self._is_paused:
            self._refresh_rows()
        if done and not len(trace):
            self.show_message("the program ran no torch operator")
        if done or len(trace) >= self._timed_from:
            self._timed_from = len(trace) * 3 // 2 if len(trace) > _SMALL else 0
            self._time_soon(partial(self._show_times, trace))
        self.show_state()

    def show_message(self, text: str) -> None:
        """Show why there are no rows."""
        self.ops.message = text
        self.ops.refresh()

    def _show_times(self, trace: Trace) -> None:
        parts, shown = self.timeline.parts, self.timeline
        ask(
            self,
            "timeline",
            lambda: timeline(trace, parts),
            lambda found: shown.show(found, self._is_done),
        )

    def on_timeline_bar_chosen(self, message: TimelineBar.Chosen) -> None:
        """Go to the first outermost row from there on."""
        if self.trace is None:
            return
        table, roots = self.trace.table, self.trace.roots()
        at = bisect_left(roots, message.at_us + (table.zero or 0.0), key=table.start.__getitem__)
        if roots:
            self.ops.select(roots[min(at, len(roots) - 1)])

    def _refresh_rows(self) -> None:
        """Show what has come in, at most a tenth of the time."""
        began = monotonic()
        if began < self._rest_until:
            if self._timer is None:
                self._timer = self.set_timer(self._rest_until - began, self._after_rest)
            return
        if self._view in GROUPS or self.text:
            self._fill_soon(self._fill)
        elif self.ops.rows.is_flat:
            self._fill()
        else:
            self.ops.grown()
        self._rest_until = monotonic() + 9 * (monotonic() - began)

    def _after_rest(self) -> None:
        self._timer = None
        if not self._is_paused:
            self._refresh_rows()

    def show_state(self) -> None:
        """The name, how much there is, and how it is shown."""
        rows = len(self.trace.table.kind) if self.trace else 0
        words = [f"{rows:,} row{'s' * (rows != 1)}", self._view]
        if self.ops.is_following and not self._is_done:
            words.append("tail")
        if self._is_paused:
            words.append("paused")
        if self.is_asked:
            words[1:] = ["waits for input"]
        self.query_one(PaneTitle).show(self._title, " · ".join(words))

    def toggle_tail(self) -> None:
        """Have the cursor stay on the last row, or no longer."""
        self.ops.is_following = not self.ops.is_following
        self.ops.grown()
        self.show_state()

    def toggle_pause(self) -> None:
        """Leave the rows as they are while more come in, or no longer."""
        self._is_paused = not self._is_paused
        if not self._is_paused and self.trace is not None:
            self._refresh_rows()
        self.show_state()

    # ------------------------------------------------------------------ views, filters

    def on_trace_tree_selected(self, message: TraceTree.Selected) -> None:
        message.stop()
        self.post_message(self.Selected())

    def on_input_changed(self) -> None:
        self._fill_soon(self._fill)

    def _fill(self) -> None:
        """Ask for the rows of the view that the filter leaves."""
        trace, text, view = self.trace, self.text, self._view
        if trace is None:
            return
        if view == "tree" and not text:
            self._show_tree()
        elif view in GROUPS:
            ask(self, "rows", lambda: _gathered(trace, view, text), self._show_groups)
        else:
            ask(
                self,
                "rows",
                lambda: _matched(trace, text, only_operators=view == "flat"),
                lambda rows: self._show_flat(text, rows),
            )

    def _show_tree(self) -> None:
        tree = self.ops
        here = tree.current
        tree.rows.show_tree()
        if here is not None:
            tree.rows.reveal(here)
        tree.shown_anew(here)
        self.query_one("#count", Label).update("")

    def _show_flat(self, text: str, rows: Sequence[int]) -> None:
        tree = self.ops
        here = tree.current
        tree.message = f"no row matches {text}"
        tree.rows.show_flat(rows)
        tree.shown_anew(here)
        self.query_one("#count", Label).update(f"{len(rows):,}")

    def _show_groups(self, groups: Sequence[Group]) -> None:
        self.groups.show(groups)
        self.query_one("#count", Label).update(f"{len(groups):,}")

    def turn_view(self, by: int) -> None:
        """Tree, flat list, or groups."""
        had_keys = self.app.focused in (self.ops, self.groups)
        self._set_view(_VIEWS[(_VIEWS.index(self._view) + by) % len(_VIEWS)])
        if had_keys:
            self.screen.set_focus(self.list)
        self._fill()

    def _set_view(self, view: str) -> None:
        self._view = view
        self.set_class(view in GROUPS, "-groups")
        self.show_state()

    def open_group(self) -> None:
        """The rows of the group under the cursor, as a flat list."""
        group = self.groups.current
        if group is None or not group.term:
            say(self, "kernels are listed under the operators that launch them")
            return
        self._set_view("flat")
        self.filter.value = group.term
        self.screen.set_focus(self.ops)


def _matched(trace: Trace, text: str, *, only_operators: bool) -> list[int]:
    kinds = trace.table.kind
    rows = matching(trace, parse_filter(text), lambda: get_current_worker().is_cancelled)
    return [row for row in rows if not only_operators or kinds[row] == OP]


def _gathered(trace: Trace, view: str, text: str) -> Sequence[Group]:
    wanted = parse_filter(text)
    rows = matching(trace, wanted, lambda: get_current_worker().is_cancelled) if wanted else None
    by = next(one for one in GROUPS if one == view)
    return gather(trace, by, rows)
