"""The trace screen beside a program that runs, and over a file that is read."""

from __future__ import annotations

import codecs
import time
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input
from textual.worker import get_current_worker

from indexes.model.errors import TorchnavError
from navigator.trace.readers import read_trace
from navigator.trace.readers.chrome import Feed
from navigator.trace.running import RunningProgram
from navigator.trace.trace import Trace
from navigator.tui.config import Config
from navigator.tui.messages import Failed, Progressed
from navigator.tui.session import Opener
from navigator.tui.trace.messages import Ended, Printed, TraceGrown
from navigator.tui.trace.output_log import OutputLog
from navigator.tui.trace.screen import TraceScreen
from navigator.tui.widgets.bars import NoticeBar

_PAUSE_S = 0.15
"""How often new rows are looked for."""


class OpenedScreen(TraceScreen):
    """A trace from a file."""

    def __init__(self, opener: Opener, config: Config, file: Path) -> None:
        super().__init__(opener, config, file.name)
        self._file = file

    def on_mount(self) -> None:
        self.run_worker(self._read, group="reading", thread=True, exit_on_error=False)

    def _read(self) -> None:
        worker = get_current_worker()

        def progress(rows: int) -> bool:
            self.post_message(Progressed("reading the trace", rows, 0))
            return not worker.is_cancelled

        def early(trace: Trace) -> None:
            self.post_message(TraceGrown(trace, done=False))

        try:
            trace = read_trace(self._file, progress, early)
        except TorchnavError as error:
            self.post_message(Failed("trace", error))
            return
        self.post_message(TraceGrown(trace, done=True))

    def on_failed(self, message: Failed) -> None:
        if message.about == "trace":
            message.prevent_default()
            self.pane.ops.message = str(message.error)
            self.pane.ops.refresh()
            self.query_one(NoticeBar).show(str(message.error), error=True)


class RunningScreen(TraceScreen):
    """A trace that a program is being recorded into."""

    WAITING: ClassVar = "the program is starting …"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("O", "output", "Output", id="trace.output"),
        Binding(
            "ctrl+x",
            "interrupt",
            "Interrupt the program",
            show=False,
            priority=True,
            id="trace.interrupt",
        ),
    ]

    def __init__(
        self, opener: Opener, config: Config, file: Path, program: RunningProgram, title: str
    ) -> None:
        super().__init__(opener, config, title)
        self._feed = Feed(file)
        self._program = program
        self._is_leaving = False
        self.status: int | None = None
        """The program's exit status, once it has ended."""

    def on_mount(self) -> None:
        self.add_class("-output")
        self.pane.ops.is_following = True
        for work in (self._follow, self._listen):
            self.run_worker(work, thread=True, exit_on_error=False)

    # --------------------------------------------------------------------- in threads

    def _follow(self) -> None:
        """Take in what is recorded until the program has ended and all of it was read."""
        worker = get_current_worker()
        running = True
        while running and not worker.is_cancelled:
            running = self._program.is_running
            while self._feed.read() and not worker.is_cancelled:
                self.post_message(TraceGrown(self._feed.trace, done=False))
            time.sleep(_PAUSE_S)
        self.post_message(TraceGrown(self._feed.finish(), done=True))

    def _listen(self) -> None:
        """Take in what the program prints until it has ended."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := self._program.read():
            self.post_message(Printed(decoder.decode(data)))
        self.post_message(Ended(self._program.wait()))

    # -------------------------------------------------------------------- the program

    def on_printed(self, message: Printed) -> None:
        self.query_one(OutputLog).write(message.text)

    def on_ended(self, message: Ended) -> None:
        self.status = message.status
        log = self.query_one(OutputLog)
        log.finish()
        how = f"signal {-message.status}" if message.status < 0 else f"status {message.status}"
        log.show_title(f"output of the program, which ended with {how}")
        if message.status == 0 and not (self.has_class("-tall") or log.has_focus_within):
            self.remove_class("-output")  # few rows: they are for what it ran
            self.say("the program ended with status 0; O shows what it printed")
        if self._is_leaving:
            self.action_leave_trace()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "stdin":
            event.stop()
            self._program.type(event.value + "\n")
            event.input.value = ""

    def action_output(self) -> None:
        self.toggle_class("-output")

    def action_interrupt(self) -> None:
        self._program.interrupt()
        self.say("the program was interrupted")

    def action_leave_trace(self) -> None:
        """Quit; a program that still runs is asked about first."""
        if self.status is not None:
            self.app.exit(self.status if self.status >= 0 else 128 - self.status)
        elif self._is_leaving:
            self._program.stop()
        else:
            self._is_leaving = True
            self.say("the program still runs: q again stops it, ctrl+x interrupts it")
            self.set_timer(5, self._stay)

    def _stay(self) -> None:
        self._is_leaving = self._is_leaving and not self._program.is_running
