"""What the program prints, and a line to answer it."""

from __future__ import annotations

import codecs
import re
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Log

from navigator.trace.running import RunningProgram
from navigator.tui.text import clean
from navigator.tui.widgets.bars import PaneTitle

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


class OutputLog(Vertical):
    """The program's terminal as text: colours and cursor movements are left out."""

    class Ended(Message):
        """The program has ended."""

        def __init__(self, log: OutputLog, status: int) -> None:
            super().__init__()
            self.log = log
            self.status = status

    DEFAULT_CSS: ClassVar[str] = """
    OutputLog {
        Log { height: 1fr; background: $background; scrollbar-size-vertical: 1; }
        Input { height: 1; border: none; padding: 0 1; background: $surface; }
    }
    """

    def __init__(self, program: RunningProgram) -> None:
        super().__init__()
        self.program = program
        self.status: int | None = None
        """The program's exit status, once it has ended."""
        self._rest = ""

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        yield Log(max_lines=20_000)
        yield Input(placeholder="Send input to the program (Enter)", id="stdin")

    def on_mount(self) -> None:
        self.query_one(PaneTitle).show("output of the program")
        self.run_worker(self._listen, thread=True, exit_on_error=False)

    def _listen(self) -> None:
        """In a thread: take in what the program prints until it has ended."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := self.program.read():
            self.call_later(self.write, decoder.decode(data))
        self.call_later(self.finish, self.program.wait())

    def write(self, text: str) -> None:
        """Show what was printed; a line that is drawn over itself keeps its last state."""
        *lines, self._rest = (self._rest + text).replace("\r\n", "\n").split("\n")
        if lines:
            self.query_one(Log).write_lines([plain(line) for line in lines])

    def finish(self, status: int) -> None:
        """Nothing more will come: show a last line without an end."""
        if self._rest:
            self.query_one(Log).write_line(plain(self._rest))
            self._rest = ""
        self.status = status
        how = f"signal {-status}" if status < 0 else f"status {status}"
        self.query_one(PaneTitle).show(f"output of the program, which ended with {how}")
        self.post_message(self.Ended(self, status))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.program.type(event.value + "\n")
        event.input.value = ""


def plain(line: str) -> str:
    """A line of a terminal's text as it would look in the end."""
    parts = _ESCAPES.sub("", line).split("\r")
    return clean(next((part for part in reversed(parts) if part), "").expandtabs(8))
