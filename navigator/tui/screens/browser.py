"""The browser screen: operators, the chain of the selected one, the source of the selected hop."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import Screen

from indexes.model.errors import Cancelled
from navigator.tui.background import complain, say
from navigator.tui.chain.chain_pane import ChainPane
from navigator.tui.context import Context
from navigator.tui.history import History, Visit
from navigator.tui.panes.chain_workspace import ChainWorkspace
from navigator.tui.panes.index_progress import IndexProgress
from navigator.tui.panes.operator_pane import OperatorPane
from navigator.tui.processes.preview import Preview
from navigator.tui.screens.about import AboutScreen, about_source
from navigator.tui.screens.breakpoints import fit_terminal
from navigator.tui.source.source_pane import SourcePane
from navigator.tui.widgets.bars import NoticeBar, TopBar
from navigator.tui.widgets.filter_input import EarlyKeys
from navigator.tui.widgets.key_bar import KeyBar

_WIDTHS = [(0, "-tiny"), (64, "-narrow"), (104, "-medium"), (150, "-wide")]
_HEIGHTS = [(0, "-short"), (14, "-low"), (32, "-tall")]


class BrowserScreen(Screen[None]):
    """The first screen: panes between bars, and the reaction to a new index."""

    CSS_PATH = "browser.tcss"
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+q", "app.quit", "Quit", id="quit"),
        Binding("d", "table", "Dispatch table", id="table"),
        Binding("T", "app.list('tensorimpl')", "TensorImpl", show=False, id="tensorimpl"),
        Binding("E", "app.list('engine')", "Autograd engine", show=False, id="engine"),
        Binding("D", "app.list('map')", "Folders of the tree", show=False, id="map"),
        Binding("0", "start", "Start page", show=False, id="start"),
        Binding("i", "about", "About this source", show=False, id="about"),
        Binding("x", "hide_notice", "Hide the notice", show=False, id="notice.hide"),
        Binding("ctrl+r,f5", "reindex", "Look for changes", show=False, id="index.refresh"),
        Binding("ctrl+x", "cancel", "Stop indexing", show=False, priority=True, id="index.cancel"),
    ]

    def __init__(self, context: Context, op: str | None = None) -> None:
        """``op`` is an initial name."""
        super().__init__(classes="-in-operators")  # a hidden pane would lose the focus
        self.context = context
        self.early_keys = EarlyKeys()
        self._op_wanted = op
        self._root = ""
        self._last: Visit | None = None
        """The last place of the previous run, until it is shown or replaced."""

    def compose(self) -> ComposeResult:
        fit_terminal(self)
        chain = ChainPane(self.context)
        yield TopBar()
        yield NoticeBar()
        with ChainWorkspace(self.context):
            with Container(id="left"):
                yield OperatorPane(self.context, chain)
                yield chain
            yield SourcePane(self.context)
        yield IndexProgress(self.context)
        yield KeyBar(self.context.config.keys)

    @property
    def workspace(self) -> ChainWorkspace:
        return self.query_one(ChainWorkspace)

    @property
    def operators(self) -> OperatorPane:
        return self.query_one(OperatorPane)

    @property
    def progress(self) -> IndexProgress:
        return self.query_one(IndexProgress)

    def on_mount(self) -> None:
        self.operators.list.message = "opening the index …"
        self.workspace.show_start()
        self.early_keys.begin_in(self.operators.filter)
        for problem in self.context.config.problems:
            complain(self, problem)
        self.progress.open()

    def on_screen_resume(self) -> None:
        fit_terminal(self)

    # ---------------------------------------------------------------------------- index

    def on_index_progress_opened(self) -> None:
        """Show the first index, or a newer one without disturbing the user."""
        workspace, chain = self.workspace, self.workspace.chain
        requested = chain.op
        start = self._start()
        self.operators.refill(follow=start is None)
        if chain.op == requested:
            chain.reload(workspace.here)  # else the filter has just requested another
        if start is not None:
            workspace.open(Visit(op=start))
            self.set_focus(chain.entrance)

    def _start(self) -> str | None:
        """Open the operator named on the command line, once it is known."""
        name, session = self._op_wanted, self.context.session
        match = session.index.resolve(name) if session is not None and name is not None else None
        if match is None or session is None:
            return None
        if match.overloads or not isinstance(session.index, Preview):
            self._op_wanted = None
        if not match.overloads and self._op_wanted is None:
            near = ", ".join(match.suggestions)
            complain(self, f"nothing is named {name}" + (f"; near: {near}" if near else ""))
        return next(iter(match.overloads), None)

    def on_index_progress_described(self, message: IndexProgress.Described) -> None:
        info = message.info
        self._return_to_last(info.root)
        self.query_one(TopBar).show_source(info)
        note = f"({len(info.missing) - 1} more: i)" if len(info.missing) > 1 else ""
        self.query_one(NoticeBar).show(f"✗ {info.missing[0]}" if info.missing else "", note)

    def _return_to_last(self, root: str) -> None:
        """Show the last place of this tree, unless something else has been chosen."""
        workspace, session = self.workspace, self.context.session
        if root != self._root:
            self._root, visits = root, self.context.places.of(root)
            workspace.history.restore(visits)
            self._last = visits[-1] if visits else None
            workspace.chain.start.show(visits)
        is_free = workspace.chain.op is None and not self.operators.filter.value
        if not is_free or self._op_wanted is not None:
            self._last = None
        last = self._last
        if last is None or session is None or last.op is None:
            return
        if session.index.summary(last.op) is not None:
            self._last = None
            workspace.open(last.whole)
            self.operators.list.select(last.op)

    def remember(self) -> None:
        """Save the last places of this tree."""
        if self._root:
            self.workspace.settle()
            self.context.places.keep(self._root, self.workspace.history.trail(History.LIMIT))

    def on_index_progress_failed(self, message: IndexProgress.Failed) -> None:
        stopped = isinstance(message.error, Cancelled)
        text = "indexing was stopped; ctrl+r resumes" if stopped else str(message.error)
        self.query_one(NoticeBar).show(text, error=not stopped)
        if self.context.session is None:
            self.operators.list.message = text

    def action_cancel(self) -> None:
        self.progress.cancel()

    def action_reindex(self) -> None:
        self.progress.open()

    def on_workspace_edited(self) -> None:
        self.progress.open()

    # --------------------------------------------------------------------- other screens

    def action_start(self) -> None:
        """Go to the start page; Escape or left lead back to the operators."""
        self.workspace.show_start()
        self.set_focus(self.workspace.chain.start)

    async def action_table(self) -> None:
        op = self.workspace.chain.op
        if self.context.index is not None and op is not None:
            await self.run_action(f"app.list('table', {op!r})")
        elif op is None:
            say(self, "choose an operator first")
        elif self.context.session is not None:
            say(self, "the dispatch table needs the whole index, which is still being built")

    def action_about(self) -> None:
        session = self.context.session
        if session is not None:
            self.app.push_screen(AboutScreen(about_source(session.info, session.index.problems())))

    def action_hide_notice(self) -> None:
        self.query_one(NoticeBar).show("")
