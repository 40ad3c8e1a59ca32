"""The trace screen: a program's operators, during and after the run, linked to source."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from threading import Event
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message
from textual.screen import Screen

from indexes.model.errors import Cancelled, TorchnavError
from navigator.trace.trace import Trace
from navigator.tui.background import ask, say
from navigator.tui.chain.chain_pane import ChainPane
from navigator.tui.context import Context
from navigator.tui.panes.index_progress import IndexProgress
from navigator.tui.screens.about import AboutScreen
from navigator.tui.screens.breakpoints import fit_terminal
from navigator.tui.screens.help import MARKS, HelpRow
from navigator.tui.source.source_pane import SourcePane
from navigator.tui.trace.output_log import Answer, OutputLog
from navigator.tui.trace.pane import TracePane
from navigator.tui.trace.recordings import Recording
from navigator.tui.trace.workspace import TraceWorkspace
from navigator.tui.widgets.bars import NoticeBar, TopBar
from navigator.tui.widgets.key_bar import KeyBar

_WIDTHS = [(0, "-narrow"), (110, "-medium"), (150, "-wide")]
_HEIGHTS = [(0, "-short"), (16, "-low"), (32, "-tall")]


class TraceScreen(Screen[None]):
    """Panes between bars, and the output of a running program below."""

    CSS_PATH = "trace.tcss"
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+q", "leave_trace", "Quit", id="quit"),
        Binding("O", "output", "Output", id="trace.output"),
        Binding("a", "answer", "Answer", tooltip="Send input to the program", id="trace.answer"),
        Binding(
            "ctrl+c",
            "break",
            "Interrupt",
            tooltip="Interrupt; again: quit",
            show=False,
            id="trace.interrupt",
        ),
        Binding("ctrl+x", "cancel", "Stop indexing", show=False, priority=True, id="index.cancel"),
        Binding("i", "about", "About this trace", show=False, id="about"),
        Binding("x", "hide_notice", "Hide the notice", show=False, id="notice.hide"),
    ]

    LEGEND: ClassVar[Sequence[HelpRow]] = (
        ("Rows of a trace", "", ""),
        ("train.py:12", "your line that called the rows below", ""),
        ("← ↻ ⚙", "backward pass, optimizer, compiler", ""),
        ("+12", "the number of operators folded below", ""),
        ("Words for the filter", "", ""),
        ("op:add phase:back", "rows of an operator, of a phase", ""),
        ("module:fc line:12", "rows under a module or line", ""),
        ("node:Mul origin:eng", "rows that a Node ran, or an origin", ""),
        ("dur:>1ms thread:7", "rows longer than this, of a thread", ""),
        ("no:line no:kernel", "rows without it: also no:module, no:node", ""),
        *MARKS,
    )

    class Grown(Message):
        """There are new rows, or a first trace."""

        def __init__(self, trace: Trace, done: bool) -> None:
            super().__init__()
            self.trace = trace
            self.done = done

    def __init__(self, context: Context, recording: Recording) -> None:
        super().__init__(classes="-output" if recording.program else None)
        self.context = context
        self._recording = recording
        self._stop = Event()
        self._is_done = False
        self._is_leaving = False
        self._breaks = 0
        """Number of ctrl+c presses."""

    def compose(self) -> ComposeResult:
        fit_terminal(self)
        recording = self._recording
        yield TopBar()
        yield NoticeBar()
        with TraceWorkspace(self.context):
            with Container(id="left"):
                yield TracePane(recording.title, recording.waiting)
            with Container(id="right"):
                yield ChainPane(self.context)
                yield SourcePane(self.context)
            if recording.program is not None:
                yield OutputLog(recording.program)
        yield IndexProgress(self.context)
        yield KeyBar(self.context.config.keys)

    @property
    def workspace(self) -> TraceWorkspace:
        return self.query_one(TraceWorkspace)

    @property
    def pane(self) -> TracePane:
        return self.query_one(TracePane)

    def on_mount(self) -> None:
        self.pane.ops.is_following = self._recording.program is not None
        self.pane.show_state()
        self.set_focus(self.pane.ops)
        self.query_one(IndexProgress).open()
        ask(self, "trace", self._read, lambda _: None, self._unreadable)

    def on_unmount(self) -> None:
        self._stop.set()

    def on_screen_resume(self) -> None:
        fit_terminal(self)

    # -------------------------------------------------------------------------- the rows

    def _read(self) -> None:
        """In a thread: pass on the rows as they arrive, and their number, in one queue."""
        progress = self.query_one(IndexProgress)
        self._recording.read(
            lambda trace, done: self.post_message(self.Grown(trace, done)),
            lambda rows: self.call_later(progress.show, "reading the trace", rows, 0),
            self._stop,
        )

    def on_trace_screen_grown(self, message: Grown) -> None:
        self._is_done = message.done
        self.workspace.grow(message.trace, done=message.done)
        if message.done:
            self.query_one(IndexProgress).hide()
            self._show_problems(message.trace)

    def _show_problems(self, trace: Trace) -> None:
        stopped = ["reading was stopped: some rows are missing"] * self._stop.is_set()
        problems = [*trace.meta.problems, *stopped]
        if problems:
            more = f"({len(problems) - 1} more: i)" if len(problems) > 1 else ""
            died = bool(trace.table.unfinished)
            self.query_one(NoticeBar).show(problems[0], more, error=died)

    def _unreadable(self, error: TorchnavError) -> None:
        self.query_one(IndexProgress).hide()
        self.pane.ops.message = str(error)
        self.query_one(NoticeBar).show(str(error), error=True)

    # ------------------------------------------------------------------------- the index

    def on_index_progress_opened(self) -> None:
        self.workspace.link()
        self.workspace.chain.reload(self.workspace.here)

    def on_index_progress_described(self, message: IndexProgress.Described) -> None:
        self.query_one(TopBar).show_source(message.info)
        trace = self.pane.trace
        if message.info.missing and not (self._is_done and trace and trace.meta.problems):
            self.query_one(NoticeBar).show(f"✗ {message.info.missing[0]}")

    def on_index_progress_failed(self, message: IndexProgress.Failed) -> None:
        stopped = isinstance(message.error, Cancelled)
        self.query_one(NoticeBar).show(str(message.error), error=not stopped)

    # ----------------------------------------------------------------------- the program

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disables interrupting without a running program."""
        of_program = action in ("output", "answer", "break")
        return not of_program or self._recording.program is not None

    def on_output_log_asked(self, message: OutputLog.Asked) -> None:
        if message.log.asks:
            self.add_class("-output")
        self.pane.is_asked = message.log.asks
        self.pane.show_state()

    def action_answer(self) -> None:
        """Focus the program's input line."""
        self.add_class("-output")
        self.set_focus(self.query_one(Answer))

    def action_break(self) -> None:
        """The first ctrl+c goes to the program, the second one ends the screen."""
        if self.get_selected_text() is not None:
            self.action_copy_text()
            return
        program, self._breaks = self._recording.program, self._breaks + 1
        if program is None or not program.is_running:
            self.action_leave_trace() if self._breaks > 1 else say(self, "ctrl+c again quits")
        elif self._breaks == 1:
            program.interrupt()
            say(self, "the program was interrupted; ctrl+c again ends it and quits")
        else:
            self._is_leaving = True
            program.stop() if self._breaks == 2 else program.kill()
            say(self, "the program was asked to end; ctrl+c again kills it")

    def on_output_log_ended(self, message: OutputLog.Ended) -> None:
        if message.status == 0 and not (self.has_class("-tall") or message.log.has_focus_within):
            self.remove_class("-output")  # few rows, needed for the operators
            say(self, "the program ended with status 0; O shows what it printed")
        if self._is_leaving:
            self.action_leave_trace()

    def action_output(self) -> None:
        self.toggle_class("-output")

    def action_cancel(self) -> None:
        """Stop reading the trace and indexing."""
        if self._recording.program is None and not self._is_done:
            self._stop.set()
        self.query_one(IndexProgress).cancel()

    def action_leave_trace(self) -> None:
        """Quit, after asking if a program is still running."""
        log = next(iter(self.query(OutputLog)), None)
        if log is None or log.status is not None:
            status = log.status or 0 if log else 0
            self.app.exit(status if status >= 0 else 128 - status)
        elif self._is_leaving:
            log.program.stop()
        else:
            self._is_leaving = True
            say(self, "the program still runs: q again stops it, ctrl+c interrupts it")
            self.set_timer(5, partial(self._stay, log))

    def _stay(self, log: OutputLog) -> None:
        self._is_leaving = self._is_leaving and not log.program.is_running

    # --------------------------------------------------------------------- other screens

    def action_about(self) -> None:
        if self.pane.trace is not None:
            self.app.push_screen(AboutScreen(about_trace(self.pane.trace)))

    def action_hide_notice(self) -> None:
        self.query_one(NoticeBar).show("")


def about_trace(trace: Trace) -> list[tuple[str, str]]:
    """Facts about a trace's run, and what the trace lacks."""
    meta = trace.meta
    return [
        ("file", meta.path),
        ("format", meta.format),
        ("torch", meta.torch or "not known"),
        ("python", meta.python),
        ("program", shlex.join(meta.command)),
        ("devices", ", ".join(meta.devices)),
        ("rows", f"{len(trace):,}"),
        ("kernels", f"{len(trace.table.kernels):,}"),
        *(("problem", problem) for problem in meta.problems),
        *(("lacks", what) for what in meta.lacks),
    ]
