"""The trace screen: what a program runs, while it runs and afterwards, and where it leads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widget import Widget

from indexes.model.errors import TorchnavError
from navigator.tui.chain.chain_pane import ChainPane
from navigator.tui.config import Config
from navigator.tui.debounce import Debounce
from navigator.tui.editor import editor_command
from navigator.tui.history import Visit
from navigator.tui.messages import SourceLoaded
from navigator.tui.screens.chords import member
from navigator.tui.session import Opener, Session
from navigator.tui.source.document import Document, Shelf
from navigator.tui.source.source_pane import SourcePane
from navigator.tui.trace.links import TraceLinks, line_notes, read_users_source
from navigator.tui.trace.messages import Linked, Noted, Refined, Walked
from navigator.tui.trace.output_log import OutputLog
from navigator.tui.trace.pane import TracePane
from navigator.tui.trace.tree import TraceTree
from navigator.tui.trace.views import TraceViews
from navigator.tui.widgets.bars import NoticeBar, ProgressLine, TopBar
from navigator.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from navigator.trace.model import TraceOp

_WIDTHS = [(0, "-narrow"), (110, "-medium"), (150, "-wide")]
_HEIGHTS = [(0, "-short"), (16, "-low"), (32, "-tall")]


class TraceScreen(TraceViews):
    """Shows a trace; a subclass says where it comes from."""

    CSS_PATH = "trace.tcss"
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS
    WAITING: ClassVar = "reading the trace …"
    PANES: ClassVar = {TracePane: "trace", ChainPane: "chain", SourcePane: "source"}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+q", "leave_trace", "Quit", id="quit"),
        Binding("u", "users_line", "User's line", id="trace.users_line"),
        Binding("d", "dispatch_path", "Dispatch path", id="trace.dispatch_path"),
        Binding("escape", "leave", "Out", show=False, id="leave"),
        Binding("i", "about", "About this trace", show=False, id="about"),
        Binding("x", "hide_notice", "Hide the notice", show=False, id="notice.hide"),
        member("go", "f", "partner", "forward or backward"),
    ]

    def __init__(self, opener: Opener, config: Config, title: str) -> None:
        super().__init__(opener, config, title)
        self._links: TraceLinks | None = None
        self._users = Shelf(read_users_source)
        self._link_soon = Debounce(self, 0.06)

    def compose(self) -> ComposeResult:
        self.fit_terminal()
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

    def on_mount(self) -> None:
        self.pane.ops.message = self.WAITING
        self.set_focus(self.pane.ops)
        self.show_state()
        self.begin()

    def focus_order(self) -> list[Widget]:
        return [self.pane.filter, self.pane.shown, self.chain.hops, self.source.view]

    def has_session(self, session: Session) -> None:
        missing = session.info.missing
        if missing and not (self._is_done and self.trace and self.trace.meta.problems):
            self.query_one(NoticeBar).show(f"✗ {missing[0]}")
        self._make_links()

    def has_trace(self) -> None:
        self._make_links()

    def go_into(self) -> None:
        self.set_focus(self.chain.hops)
        self.settle()

    def _make_links(self) -> None:
        if self.trace is not None and self.session is not None:
            links = self._links = TraceLinks(self.trace, self.session, self._opener.cache)
            self._follow_row()
            self.ask("installed", lambda: Refined(links if links.use_installed() else None))

    def on_refined(self, message: Refined) -> None:
        if message.links is not None and message.links is self._links:
            self._follow_row()

    # -------------------------------------------------------------- what a row leads to

    def on_trace_tree_selected(self, message: TraceTree.Selected) -> None:
        self._link_soon(self._follow_row)

    def _follow_row(self) -> None:
        row = self.pane.ops.current
        if row is None or self.trace is None:
            return
        op = self.trace.op(row)
        self.pane.detail.show(op, self._forward(op))
        self.pane.timeline.mark(op.start_us)
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

    def action_dispatch_path(self) -> None:
        """The keys that the call went through, with the kernel of each."""
        row, links = self.pane.ops.current, self._links
        if row is not None and links is not None:
            self.ask("path", lambda: links.path(row))

    def on_walked(self, message: Walked) -> None:
        if message.row != self.pane.ops.current:
            return
        if message.path is None or not message.path.steps:
            self.say(message.path.end if message.path else "no dispatcher calls this row")
            return
        from navigator.tui.trace.dispatch_path import DispatchPathScreen

        self.app.push_screen(
            DispatchPathScreen(self.session, self.config, message.path), self._chosen
        )

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

    def show_source(self, document: Document, visit: Visit) -> None:
        """Beside the user's own source stands what each line has run."""
        super().show_source(document, visit)
        path, trace, lines = document.path, self.trace, len(document.lines)
        if os.path.isabs(path) and trace is not None:
            self.ask("notes", lambda: Noted(path, line_notes(trace, path, lines)))

    def on_noted(self, message: Noted) -> None:
        if self.source.view.path == message.path:
            width = len(message.notes[0]) if message.notes else 0
            self.source.view.show_notes(message.notes, width)

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
        from navigator.tui.trace.about import AboutTraceScreen

        if self.trace is not None:
            self.app.push_screen(AboutTraceScreen(self.trace))

    def action_hide_notice(self) -> None:
        self.query_one(NoticeBar).show("")

    def action_leave_trace(self) -> None:
        self.app.exit(0)
