"""The trace pane: a filter, rows or groups, and details of the selected row."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import inf
from time import monotonic
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widgets import Label

from navigator.trace.figures.lanes import Lane, lanes_between, lanes_of
from navigator.trace.trace import Trace
from navigator.trace.views import VIEWS, Links, View, no_links
from navigator.tui.background import ask
from navigator.tui.debounce import Debounce
from navigator.tui.trace.detail import TraceDetail
from navigator.tui.trace.lane_view import LaneView
from navigator.tui.trace.links import first_look, matched, sheet
from navigator.tui.trace.timeline_bar import TimelineBar
from navigator.tui.trace.tree import TraceTree
from navigator.tui.trace.view_table import Sheet, ViewHead, ViewTable
from navigator.tui.trace.view_tabs import ViewTabs
from navigator.tui.widgets.bars import PaneTitle
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.line_list import LineList
from navigator.tui.widgets.pane import MainPane

T = TypeVar("T")

_LONG = 200_000
"""Number of rows from which views are computed on demand only."""
_OWN = ("tree", "flat", "lanes")
"""The views that are not tables; tables follow."""


class TracePane(MainPane):
    """The rows of a trace as they arrive, in several views, filtered."""

    NAME = "trace"

    DEFAULT_CSS: ClassVar[str] = """
    TracePane {
        #filter-line { height: 1; background: $surface; }
        #filter-line:ansi { background: ansi_default; }
        FilterInput { width: 1fr; }
        #count { color: $text-muted; padding: 0 1; width: auto; }
        TraceTree, ViewTable, LaneView { height: 1fr; }
        ViewTable, LaneView { display: none; }
        &.-table TraceTree, &.-lanes TraceTree { display: none; }
        &.-table ViewTable, &.-table ViewHead { display: block; }
        &.-lanes LaneView, &.-lanes ViewHead { display: block; }
        &.-lanes TimelineBar { display: none; }
    }
    """

    def __init__(self, title: str, waiting: str) -> None:
        """``waiting`` is shown while there are no rows."""
        super().__init__()
        self.trace: Trace | None = None
        self._title = title
        self._waiting = waiting
        self.view = _OWN[0]
        """The current view."""
        self._offered: Sequence[str] = (*_OWN, *VIEWS)
        self._made: dict[str, View] = {}
        """Views of the whole trace."""
        self._between: Sequence[Lane] = ()
        """Lanes of time between operators, for a whole trace."""
        self.links: Links = no_links
        """Links the trace to an index, once there is one."""
        self._is_paused = False
        self.is_done = False
        self.is_asked = False
        """Whether the program waits for input."""
        self._rest_until = 0.0
        self._timer: Timer | None = None
        self._fill_soon = Debounce(self, 0.15)

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        yield ViewTabs("v")
        with Horizontal(id="filter-line"):
            yield FilterInput(
                placeholder="filter: words, phase:backward, node:, module:, dur:>1ms",
                target=TraceTree,
                at_once=lambda: self.screen.set_focus(self.list),
            )
            yield Label("", id="count", markup=False)
        yield TimelineBar()
        yield TraceTree()
        yield ViewHead()
        yield ViewTable()
        yield LaneView()
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
    def table(self) -> ViewTable:
        return self.query_one(ViewTable)

    @property
    def lanes(self) -> LaneView:
        return self.query_one(LaneView)

    @property
    def current(self) -> int | None:
        """The row of the trace under the cursor, or that it refers to."""
        if self.view == "lanes":
            item = self.lanes.item
            return item.row if item is not None and item.row >= 0 else None
        if self.view in VIEWS:
            row = (self.table.current or {}).get("op_id")
            return row if isinstance(row, int) else None
        return self.ops.current

    @property
    def timeline(self) -> TimelineBar:
        return self.query_one(TimelineBar)

    @property
    def detail(self) -> TraceDetail:
        return self.query_one(TraceDetail)

    @property
    def list(self) -> LineList:
        if self.view == "lanes":
            return self.lanes
        return self.table if self.view in VIEWS else self.ops

    @property
    def text(self) -> str:
        """The text of the filter."""
        return self.filter.value.strip()

    # ------------------------------------------------------------------------- growing

    def grow(self, trace: Trace, *, done: bool) -> None:
        """Show a trace, or new rows of the present one."""
        self.is_done = done
        if self.trace is not trace:
            self.trace = trace
            self.ops.set_trace(trace)
            if self.view != "tree" or self.text:
                self._fill_soon(self._fill)
        elif not self._is_paused:
            self._refresh_rows()
        if done and not len(trace):
            self._show_no_rows(trace)
        elif done:
            ask(self, "hottest", lambda: first_look(trace), self._open_at)
        self.timeline.grow(trace, done)
        self.show_state()

    def _open_at(self, row: int | None) -> None:
        """Put the cursor on the most expensive row, unless the user has moved it."""
        if row is not None and self.view == "tree" and not (self.text or self.ops.is_touched):
            self.ops.is_following = False
            self.ops.select(row)
            self.ops.scroll_to(y=self.ops.cursor - self.ops.size.height // 2, animate=False)

    def _show_no_rows(self, trace: Trace) -> None:
        """Say that there are no operators, and point to kernels, if any."""
        if len(trace.table.kernels):
            self.ops.message = "the trace has no operators; other views show its kernels"
            if self.view == "tree":
                self.open_view("kernel")
        else:
            self.ops.message = "the program ran no torch operator"

    def on_timeline_bar_chosen(self, message: TimelineBar.Chosen) -> None:
        """Go to the first outermost row from that moment on."""
        if self.trace is None:
            return
        table, roots = self.trace.table, self.trace.roots()
        at = bisect_left(roots, message.at_us + (table.zero or 0.0), key=table.start.__getitem__)
        if roots:
            self.ops.is_touched = True
            self.ops.select(roots[min(at, len(roots) - 1)])

    def _refresh_rows(self) -> None:
        """Show new rows, using at most a tenth of the time."""
        began = monotonic()
        if began < self._rest_until:
            if self._timer is None:
                self._timer = self.set_timer(min(self._rest_until - began, 1.0), self._after_rest)
            return
        if self.view not in ("tree", "flat") or self.text or self.ops.rows.is_flat:
            self._fill()
        else:
            self.ops.grown()
            self._rest_until = monotonic() + 9 * (monotonic() - began)

    def _after_rest(self) -> None:
        self._timer = None
        if not self._is_paused:
            self._refresh_rows()

    def show_state(self) -> None:
        """Show the name, the size and the view."""
        rows = len(self.trace.table.kind) if self.trace else 0
        words = [f"{rows:,} row{'s' * (rows != 1)}"]
        if self.ops.is_following and not self.is_done:
            words.append("tail")
        if self._is_paused:
            words.append("paused")
        if self.is_asked:
            words.append("waits for input")
        self.query_one(PaneTitle).show(self._title, " · ".join(words))
        self.query_one(ViewTabs).show(self._offered, self.view)

    def toggle_tail(self) -> None:
        """Keep the cursor on the last row, or stop that."""
        self.ops.is_following = not self.ops.is_following
        self.ops.grown()
        self.show_state()

    def toggle_pause(self) -> None:
        """Stop or resume the display of new rows."""
        self._is_paused = not self._is_paused
        if not self._is_paused and self.trace is not None:
            self._refresh_rows()
        self.show_state()

    # ------------------------------------------------------------------ views, filters

    def on_line_list_moved(self) -> None:
        """Describe the selected span of the lanes."""
        if self.view == "lanes" and self.lanes.description:
            self.query_one(ViewHead).say(self.lanes.description)

    def on_input_changed(self) -> None:
        self._fill_soon(self._fill)

    def _fill(self) -> None:
        """Request the view's rows that match the filter."""
        trace, text, view = self.trace, self.text, self.view
        if trace is None:
            return
        if view == "tree" and not text:
            self._show_tree()
        elif view == "lanes":
            self._ask(lambda: lanes_of(trace), self._show_lanes)
            if self.is_done:
                ask(self, "between", lambda: lanes_between(trace), self._add_lanes)
        elif view in VIEWS:
            made, links = self._made.get(view), self.links
            self._ask(lambda: sheet(trace, view, text, made, links), self._show_table)
        else:
            self._ask(
                lambda: matched(trace, text, only_operators=view == "flat"),
                lambda rows: self._show_flat(text, rows),
            )

    def _ask(self, question: Callable[[], T], then: Callable[[T], object]) -> None:
        """Request a view's rows; while a trace grows, a tenth of the time at most."""
        began, self._rest_until = monotonic(), inf

        def answered(found: T) -> None:
            self._rest_until = monotonic() + 9 * (monotonic() - began)
            then(found)

        ask(self, "rows", question, answered)

    def _show_tree(self) -> None:
        tree = self.ops
        current = tree.current
        tree.rows.show_tree()
        if current is not None:
            tree.rows.reveal(current)
        tree.shown_anew(current)
        self.query_one("#count", Label).update("")

    def _show_flat(self, text: str, rows: Sequence[int]) -> None:
        tree = self.ops
        current = tree.current
        tree.message = f"no row matches {text}"
        tree.rows.show_flat(rows)
        tree.shown_anew(current)
        self.query_one("#count", Label).update(f"{len(rows):,}")

    def _show_table(self, found: Sheet) -> None:
        if found.view.name != self.view:
            return
        if self.is_done and not self.text:
            self._offer(self.view, found.view)
        self.query_one(ViewHead).show(found)
        self.table.show(found)
        self.query_one("#count", Label).update(f"{len(found.rows):,}")
        self.list.post_message(LineList.Moved())

    def _show_lanes(self, lanes: Sequence[Lane]) -> None:
        assert self.trace is not None
        is_first, row = not self.lanes.row_count, self.ops.current
        self.lanes.message = "the trace has no times"
        self.lanes.show([*lanes, *self._between], self.trace.table.zero or 0.0)
        if is_first and row is not None:
            self.lanes.select_row(row)
        self.query_one("#count", Label).update("")
        self.list.post_message(LineList.Moved())

    def _add_lanes(self, lanes: Sequence[Lane]) -> None:
        """Append idle time and the critical path."""
        self._between = lanes
        self.lanes.add(lanes)

    def relink(self) -> None:
        """After a new index, recompute the views of a whole trace and offer those with rows; on
        demand only for a long trace."""
        if self.trace is None or not self.is_done:
            return
        self._made = {}
        if len(self.trace) <= _LONG:
            self._make(self.trace, list(VIEWS))
        if self.view in VIEWS:
            self._fill_soon(self._fill)

    def _make(self, trace: Trace, names: Sequence[str]) -> None:
        """Make views one after the other."""
        name, rest = names[0], names[1:]

        def made(view: View) -> None:
            if self.trace is trace:
                self._offer(name, view)
                if rest:
                    self._make(trace, rest)

        ask(self, "views", lambda: VIEWS[name](trace, self.links), made)

    def _offer(self, name: str, view: View) -> None:
        """Offer a view of the whole trace if it has rows."""
        self._made[name] = view
        if not view.rows and name != self.view:
            self._offered = [one for one in self._offered if one != name]
        self.show_state()

    def turn_view(self, by: int) -> None:
        """Go to the next offered view."""
        at = self._offered.index(self.view) if self.view in self._offered else 0
        self.open_view(self._offered[(at + by) % len(self._offered)])

    def on_view_tabs_chosen(self, message: ViewTabs.Chosen) -> None:
        message.stop()
        self.open_view(message.name)
        self.screen.set_focus(self.list)

    def open_view(self, view: str) -> None:
        """Show a view; the list keeps the focus."""
        had_keys, before = self.list.has_focus, self.view
        self._set_view(view)
        if before in self._made and not self._made[before].rows:
            self._offer(before, self._made[before])
        if had_keys:
            self.screen.set_focus(self.list)
        self._fill()

    def _set_view(self, view: str) -> None:
        self.view = view
        self.set_class(view in VIEWS, "-table")
        self.set_class(view == "lanes", "-lanes")
        self.show_state()

    def open_row(self, row: int) -> None:
        """Go to a row in the tree."""
        self._set_view("tree")
        self.filter.value = ""
        self._show_tree()
        self.ops.is_touched = True
        self.ops.select(row)
        self.screen.set_focus(self.ops)

    def open_filtered(self, text: str) -> None:
        """Show the rows that match a filter as a flat list."""
        self._set_view("flat")
        self.filter.value = text
        self._fill_soon(self._fill)
        self.screen.set_focus(self.ops)
