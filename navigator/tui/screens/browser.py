"""The browser: operators, the chain of the chosen one, the source at the chosen hop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.dom import DOMNode
from textual.widget import Widget
from textual.widgets import Input

from indexes.model.errors import Cancelled
from navigator.tui.chain.chain_pane import ChainPane
from navigator.tui.config import Config
from navigator.tui.history import Visit
from navigator.tui.messages import Described, Failed
from navigator.tui.processes.preview import Preview
from navigator.tui.screens.early_keys import EarlyKeys
from navigator.tui.screens.opening import OpeningScreen
from navigator.tui.screens.taking import Edited
from navigator.tui.session import Opener, Session
from navigator.tui.source.source_pane import SourcePane
from navigator.tui.widgets.bars import NoticeBar, ProgressLine, TopBar
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.key_bar import KeyBar
from navigator.tui.widgets.line_list import LineList
from navigator.tui.widgets.operator_pane import OperatorPane

_WIDTHS = [(0, "-tiny"), (64, "-narrow"), (104, "-medium"), (150, "-wide")]
_HEIGHTS = [(0, "-short"), (14, "-low"), (32, "-tall")]


class BrowserScreen(EarlyKeys, OpeningScreen):
    """The first screen."""

    CSS_PATH = "browser.tcss"
    PANES: ClassVar[Mapping[type[DOMNode], str]] = {
        OperatorPane: "operators",
        ChainPane: "chain",
        SourcePane: "source",
    }
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+q", "app.quit", "Quit", id="quit"),
        Binding("escape", "leave", "Out", show=False, id="leave"),
        Binding("d", "table", "Dispatch table", id="table"),
        Binding("T", "tensorimpl", "TensorImpl", show=False, id="tensorimpl"),
        Binding("E", "engine", "Autograd engine", show=False, id="engine"),
        Binding("i", "about", "About this source", show=False, id="about"),
        Binding("x", "hide_notice", "Hide the notice", show=False, id="notice.hide"),
        Binding("ctrl+r,f5", "reindex", "Look for changes", show=False, id="index.refresh"),
        Binding("ctrl+x", "cancel", "Stop indexing", show=False, priority=True, id="index.cancel"),
    ]

    def __init__(self, opener: Opener, config: Config, op: str | None = None) -> None:
        super().__init__(opener, config)
        self.add_class("-in-operators", update=False)  # a hidden pane would not keep the keys
        self._op_wanted = op

    def compose(self) -> ComposeResult:
        self.fit_terminal()
        yield TopBar()
        yield NoticeBar()
        with Container(id="panes"):
            with Container(id="left"):
                yield OperatorPane()
                yield ChainPane()
            yield SourcePane()
        yield ProgressLine()
        yield KeyBar(self.config.keys)

    @property
    def operators(self) -> OperatorPane:
        return self.query_one(OperatorPane)

    def on_mount(self) -> None:
        self.operators.list.message = "opening the index …"
        self.begin_in(self.operators.filter)
        for problem in self.config.problems:
            self.complain(problem)
        self.begin()

    # ---------------------------------------------------------------------------- index

    def has_session(self, session: Session) -> None:
        """The first index to ask, or a newer one, which must not disturb a reader."""
        here = self.here() or Visit(op=self.op)  # the cursor may be on what has no place
        self.operators.set_total(len(session.index.operators()))
        self.operators.list.follow = self.follow
        self._filter()
        if here.op is not None and here.op == self.op:
            self.load_chain(here)  # else the filter has just asked for another
        if self._op_wanted is not None:
            self._start_with(self._op_wanted, session)

    def _start_with(self, name: str, session: Session) -> None:
        """Open what was named on the command line."""
        match = session.index.resolve(name)
        self._has_start = bool(match.overloads)
        if match.overloads:
            self._op_wanted = None
            self.open(Visit(op=match.overloads[0]))
            self.set_focus(self.chain.hops)
        elif not isinstance(session.index, Preview):
            self._op_wanted = None
            near = ", ".join(match.suggestions)
            self.complain(f"nothing is called {name}" + (f"; near: {near}" if near else ""))

    def on_described(self, message: Described) -> None:
        info = message.info
        note = f"({len(info.missing) - 1} more: i)" if len(info.missing) > 1 else ""
        text = f"✗ {info.missing[0]}" if info.missing else ""
        self.query_one(NoticeBar).show(text, note)

    def on_failed(self, message: Failed) -> None:
        if message.about != "index":
            return
        message.prevent_default()
        self.query_one(ProgressLine).hide()
        stopped = isinstance(message.error, Cancelled)
        text = "indexing was stopped; ctrl+r goes on" if stopped else str(message.error)
        self.query_one(NoticeBar).show(text, error=not stopped)
        if self.session is None:
            self.operators.list.message = text
            self.operators.list.refresh()

    def action_cancel(self) -> None:
        self._stop.set()

    def on_progress_line_cancel_clicked(self) -> None:
        self._stop.set()

    def action_reindex(self) -> None:
        self.open_index()

    def on_edited(self, message: Edited) -> None:
        self.open_index()

    # -------------------------------------------------------------------------- filter

    _filtered: str | None = None
    """The filter whose operators are shown; None at first."""
    _settling = False
    _has_start = False
    """Whether the command line named an operator to start with."""

    @property
    def is_ready(self) -> bool:
        return super().is_ready and not self._settling

    def on_input_changed(self, event: Input.Changed) -> None:
        self._filter()

    def _filter(self) -> None:
        """Show the operators that the filter line leaves. That takes less than a thread would."""
        text = self.operators.filter.value.strip()
        if self.session is None:
            return
        is_first = self._filtered is None
        is_other = text != self._filtered
        self._filtered = text
        self.operators.show(self.session.index.filter(text), text)
        current = self.operators.list.current
        if is_other and current is not None and not (is_first and self._has_start):
            self.follow(current.full_name)
        elif self.op is not None:
            self.operators.list.select(self.op)
        if self._settling:
            self._settled()

    def on_input_submitted(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        """Into the chain. The filter may not have seen the last letters yet."""
        self.set_focus(self.chain.hops)
        self._settling = True
        self.operators.filter.call_later(self._choose_first)

    def _choose_first(self) -> None:
        if self.operators.filter.value.strip() == self._filtered:
            self._settled()
        else:
            self._filter()  # the input has not yet said that it changed

    def _settled(self) -> None:
        """The list is what the filter says, so keys for its first chain may act."""
        self._settling = False
        self.settle()
        self.run_later()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        if message.list is self.operators.list:
            self.set_focus(self.chain.hops)
            self.settle()

    def next_ops(self) -> list[str]:
        """Those around the cursor, further down first."""
        return self.operators.list.around()

    # --------------------------------------------------------------------------- panes

    def focus_order(self) -> list[Widget]:
        return [self.operators.filter, self.operators.list, self.chain.hops, self.source.view]

    def action_leave(self) -> None:
        """One step out: source, chain, list, and there the filter goes."""
        if self.focused is self.source.view:
            self.set_focus(self.chain.hops)
        elif self.focused is self.chain.hops or isinstance(self.focused, FilterInput):
            self.set_focus(self.operators.list)
        else:
            self.operators.filter.value = ""

    def action_leave_chain(self) -> None:
        self.set_focus(self.operators.list)

    def action_search(self) -> None:
        if self.is_in_source:
            super().action_search()
        else:
            self.set_focus(self.operators.filter)

    def action_hide_notice(self) -> None:
        self.query_one(NoticeBar).show("")

    # --------------------------------------------------------------------- other screens

    def action_table(self) -> None:
        from indexes.queries.index import Index
        from navigator.tui.screens.dispatch_table import DispatchTableScreen

        if self.session is None or self.op is None:
            return
        if isinstance(self.session.index, Index):
            screen = DispatchTableScreen(self.session, self.config, self.session.index, self.op)
            self.app.push_screen(screen, self._chosen)
        else:
            self.say("the dispatch table needs the whole index, which is still being built")

    def action_tensorimpl(self) -> None:
        from navigator.tui.screens.tensorimpl import TensorImplScreen

        if self.session is not None:
            self.app.push_screen(TensorImplScreen(self.session, self.config), self._chosen)

    def action_engine(self) -> None:
        from navigator.tui.screens.engine import EngineScreen

        if self.session is not None:
            self.app.push_screen(EngineScreen(self.session, self.config), self._chosen)

    def action_about(self) -> None:
        from navigator.tui.screens.about import AboutScreen

        if self.session is not None:
            self.app.push_screen(AboutScreen(self.session.info, self.session.index.problems()))
