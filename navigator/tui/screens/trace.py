"""The trace screen: what a program runs, while it runs and afterwards, and where it leads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from indexes.errors import TorchnavError
from navigator.trace.filters import matching, parse_filter
from navigator.trace.groups import GROUPS, gather
from navigator.trace.table import OP
from navigator.trace.trace import Trace
from navigator.tui.config import Config
from navigator.tui.debounce import Debounce
from navigator.tui.document import Shelf
from navigator.tui.editor import editor_command
from navigator.tui.history import Visit
from navigator.tui.messages import SourceLoaded
from navigator.tui.screens.chords import member
from navigator.tui.screens.opening import OpeningScreen
from navigator.tui.session import Opener, Session
from navigator.tui.trace_links import TraceLinks, read_users_source
from navigator.tui.trace_messages import Gathered, Linked, Matched, Refined, TraceGrown
from navigator.tui.widgets.bars import NoticeBar, ProgressLine, TopBar
from navigator.tui.widgets.chain_pane import ChainPane
from navigator.tui.widgets.key_bar import KeyBar
from navigator.tui.widgets.line_list import LineList
from navigator.tui.widgets.output_log import OutputLog
from navigator.tui.widgets.source_pane import SourcePane
from navigator.tui.widgets.trace_pane import TracePane
from navigator.tui.widgets.trace_tree import TraceTree

if TYPE_CHECKING:
    from navigator.trace.model import TraceOp

_WIDTHS = [(0, "-narrow"), (110, "-medium"), (150, "-wide")]
_HEIGHTS = [(0, "-short"), (16, "-tall")]
_VIEWS = ("tree", "flat", *GROUPS)


class TraceScreen(OpeningScreen):
    """Shows a trace; a subclass says where it comes from."""

    CSS_PATH = "trace.tcss"
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS
    PANES: ClassVar = {TracePane: "trace", ChainPane: "chain", SourcePane: "source"}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+q", "leave_trace", "Quit", id="quit"),
        Binding("v", "view(1)", "View", id="trace.view"),
        Binding("V", "view(-1)", "View before", show=False, id="trace.view_before"),
        Binding("u", "users_line", "User's line", id="trace.users_line"),
        Binding("t", "follow_end", "Tail", show=False, id="trace.tail"),
        Binding("p", "pause", "Pause", show=False, id="trace.pause"),
        Binding("escape", "leave", "Out", show=False, id="leave"),
        Binding("i", "about", "About this trace", show=False, id="about"),
        Binding("x", "hide_notice", "Hide the notice", show=False, id="notice.hide"),
        member("go", "f", "partner", "forward or backward"),
    ]

    def __init__(self, opener: Opener, config: Config, title: str) -> None:
        super().__init__(opener, config)
        self.trace: Trace | None = None
        self._what = title
        self._links: TraceLinks | None = None
        self._users = Shelf(read_users_source)
        self._view = 0
        self._is_paused = False
        self._is_done = False
        self._rest_until = 0.0
        self._waiting: Timer | None = None
        self._link_soon = Debounce(self, 0.06)
        self._filter_soon = Debounce(self, 0.15)

    def compose(self) -> ComposeResult:
        yield TopBar()
        yield NoticeBar()
        with Container(id="panes"):
            with Container(id="left"):
                yield TracePane()
            with Container(id="right"):
                yield ChainPane()
                yield SourcePane()
        yield OutputLog()
        yield ProgressLine()
        yield KeyBar(self.config.keys)

    @property
    def pane(self) -> TracePane:
        return self.query_one(TracePane)

    def on_mount(self) -> None:
        self.pane.ops.message = "reading the trace …"
        self.set_focus(self.pane.ops)
        self.show_state()
        self.call_after_refresh(self.open_index)

    def focus_order(self) -> list[Widget]:
        return [self.pane.filter, self.pane.shown, self.chain.hops, self.source.view]

    def has_session(self, session: Session) -> None:
        missing = session.info.missing
        if missing and not (self._is_done and self.trace and self.trace.meta.problems):
            self.query_one(NoticeBar).show(f"✗ {missing[0]}")
        self._make_links()

    def _make_links(self) -> None:
        if self.trace is not None and self.session is not None:
            links = self._links = TraceLinks(self.trace, self.session, self._opener.cache)
            self._follow_row()
            self.ask("installed", lambda: Refined(links if links.use_installed() else None))

    def on_refined(self, message: Refined) -> None:
        if message.links is not None and message.links is self._links:
            self._follow_row()

    # ------------------------------------------------------------------------- growing

    def on_trace_grown(self, message: TraceGrown) -> None:
        self._is_done = message.done
        if self.trace is not message.trace:
            self.trace = message.trace
            self.pane.ops.set_trace(message.trace)
            self._make_links()
        elif not self._is_paused:
            self._refresh_rows()
        if message.done:
            self._show_problems(message.trace)
        self.show_state()

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

    # -------------------------------------------------------------- what a row leads to

    def on_trace_tree_selected(self, message: TraceTree.Selected) -> None:
        self._link_soon(self._follow_row)

    def _follow_row(self) -> None:
        row = self.pane.ops.current
        if row is None or self.trace is None:
            return
        op = self.trace.op(row)
        self.pane.detail.show(op, self._forward(op))
        links = self._links
        if links is not None:
            self.ask("link", lambda: links.answer(row))

    def _forward(self, op: TraceOp) -> TraceOp | None:
        """The operator whose gradient the row's Node computes."""
        if self.trace is None or op.node_id is None:
            return None
        node = self.trace.op(op.node_id)
        forward = node.forward_id
        return self.trace.op(forward) if forward is not None else None

    def on_linked(self, message: Linked) -> None:
        if message.row != self.pane.ops.current or self.trace is None:
            return
        if message.link is not None:
            self.pane.detail.show_link(message.link, message.launched)
        if message.visit is not None:
            self.open(message.visit)
        else:
            self.op = None
            self.chain.show_message(self.trace.op(message.row).label, message.reason)
            self.show_no_source(message.reason)

    def action_derivative(self) -> None:
        """The formula behind the row: in a backward pass that of its Node."""
        row, links = self.pane.ops.current, self._links
        visit = links.formula(row) if links is not None and row is not None else None
        if visit is not None:
            self.jump(visit)
        else:
            self.say("no formula of derivatives.yaml is behind this row")

    def action_partner(self) -> None:
        """From an operator to the Node of its gradient, from a Node to its operator."""
        row = self.pane.ops.current
        if self.trace is None or row is None:
            return
        forward = self._forward(self.trace.op(row))
        partner = forward.id if forward else self.trace.backward_of(row)
        if partner is None or not self.pane.ops.select(partner):
            self.say("this has no partner in the other direction here")

    # ------------------------------------------------------------ the user's own source

    def action_users_line(self) -> None:
        """The line of the user's program that led to the row."""
        row = self.pane.ops.current
        user = self.trace.op(row).user if self.trace is not None and row is not None else None
        if user is None:
            self.say("the trace does not know the line that led here")
        else:
            self.jump(Visit(self.op, user.path, user.line, 0, f"{user.path}:{user.line}"))

    def load(self, visit: Visit) -> None:
        """Files of the user are named by absolute paths, those of the tree never are."""
        path = visit.path
        if path is None or not os.path.isabs(path):
            super().load(visit)
            return
        self.expected = visit
        self.ask("source", lambda: SourceLoaded(self._users.document(path), visit))

    def _open_editor(self, session: Session, path: str, line: int) -> None:
        if not os.path.isabs(path):
            super()._open_editor(session, path, line)
            return
        if not os.path.isfile(path):
            raise TorchnavError(f"{path} is not on this machine")
        command = editor_command(Path(path), line, self.config.editor)
        run: Callable[..., int] = self._run_beside if command.window else self._run_here
        if status := run(command):
            self.complain(f"{command.argv[0]} ended with status {status}")
        self._users.forget(path)

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
            self.set_focus(self.chain.hops)
            self.settle()
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

    # ------------------------------------------------------------------------- leaving

    def action_search(self) -> None:
        if self.is_in_source:
            super().action_search()
        else:
            self.set_focus(self.pane.filter)

    def action_choose(self) -> None:
        self.set_focus(self.pane.shown)

    def action_leave(self) -> None:
        """One step out: source, chain, trace, and there the filter goes."""
        if self.focused is self.source.view:
            self.set_focus(self.chain.hops)
        elif self.focused is not self.pane.shown:
            self.set_focus(self.pane.shown)
        else:
            self.pane.filter.value = ""

    def action_leave_chain(self) -> None:
        self.set_focus(self.pane.shown)

    def action_about(self) -> None:
        from navigator.tui.screens.about_trace import AboutTraceScreen

        if self.trace is not None:
            self.app.push_screen(AboutTraceScreen(self.trace))

    def action_hide_notice(self) -> None:
        self.query_one(NoticeBar).show("")

    def action_leave_trace(self) -> None:
        self.app.exit(0)


def _matched(trace: Trace, text: str, *, only_operators: bool) -> Matched:
    kinds = trace.table.kind
    rows = matching(trace, parse_filter(text), lambda: get_current_worker().is_cancelled)
    return Matched(text, [row for row in rows if not only_operators or kinds[row] == OP])


def _gathered(trace: Trace, view: str, text: str) -> Gathered:
    wanted = parse_filter(text)
    rows = matching(trace, wanted, lambda: get_current_worker().is_cancelled) if wanted else None
    by = next(one for one in GROUPS if one == view)
    return Gathered(view, gather(trace, by, rows))
