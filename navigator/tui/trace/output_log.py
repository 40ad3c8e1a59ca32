"""The output of a running program, and a line for its input."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Log

from navigator.live.python_process import status_words
from navigator.trace.running import RunningProgram
from navigator.tui.text import clean
from navigator.tui.widgets.bars import Bar, PaneTitle
from navigator.tui.widgets.pane import Pane

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CHECK_S = 0.25
"""Interval for checking whether a silent program waits for input."""
_SILENT = 4
"""Number of checks after which an unfinished line counts as a prompt, if the system does not report
waiting programs."""


class OpenLine(Bar):
    """The last line of the output without a newline: a prompt, a progress bar."""

    DEFAULT_CSS: ClassVar[str] = "OpenLine { text-style: bold; }"

    text = ""

    def show(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self.refresh()

    def render(self) -> Content:
        return Content(self.text).truncate(self.size.width, ellipsis=True)


class Answer(Input):
    """The input line for the program."""

    DEFAULT_CSS: ClassVar[str] = """
    Answer {
        height: 1;
        border: none;
        padding: 0 1;
        background: $surface;
        &:focus { border: none; background: $surface; }
        &:ansi { background: ansi_default; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+d", "end_input", "End the input", show=True, id="stdin.end")
    ]

    class Ended(Message):
        """End the program's input."""

    def action_end_input(self) -> None:
        self.post_message(self.Ended())


class OutputLog(Pane):
    """The program's output as text, without colours and cursor movements."""

    NAME = "output"

    class Asked(Message):
        """The program waits for input, or no longer does."""

        def __init__(self, log: OutputLog) -> None:
            super().__init__()
            self.log = log

    class Ended(Message):
        """The program has ended."""

        def __init__(self, log: OutputLog, status: int) -> None:
            super().__init__()
            self.log = log
            self.status = status

    DEFAULT_CSS: ClassVar[str] = """
    OutputLog {
        Log {
            height: 1fr;
            background: $background;
            scrollbar-size-vertical: 1;
            scrollbar-size-horizontal: 0;
        }
        &.-asks > PaneTitle { color: $text-warning; text-style: bold; }
        &.-asks OpenLine { color: $text-warning; }
    }
    """

    def __init__(self, program: RunningProgram) -> None:
        super().__init__()
        self.program = program
        self.status: int | None = None
        """The program's exit status, once it has ended."""
        self._rest = ""
        self._checks = 0
        """Number of checks since the last output."""

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        yield Log(max_lines=20_000)
        yield OpenLine()
        yield Answer(placeholder="Send input to the program (Enter)", id="stdin")

    def on_mount(self) -> None:
        self._show_state()
        self._check_timer = self.set_interval(_CHECK_S, self._check_input)
        self.run_worker(self._listen, thread=True, exit_on_error=False)

    @property
    def stops(self) -> Sequence[Widget]:
        """The input line; only the text above it once the program has ended."""
        return [self.query_one(Log) if self.line.disabled else self.line] if self.display else []

    @property
    def line(self) -> Answer:
        return self.query_one(Answer)

    @property
    def asks(self) -> bool:
        """Whether the program waits for input."""
        return self.has_class("-asks")

    # ------------------------------------------------------------------- what it prints

    def _listen(self) -> None:
        """In a thread: read the program's output until it ends."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := self.program.read():
            self.call_later(self.write, decoder.decode(data))
        self.call_later(self.finish, self.program.wait())

    def write(self, text: str) -> None:
        """Show output; a line that is overwritten keeps its last state."""
        *lines, rest = (self._rest + text).replace("\r\n", "\n").split("\n")
        self._rest = _last_state(rest)
        if lines:
            self.query_one(Log).write_lines([plain(line) for line in lines])
        self.query_one(OpenLine).show(plain(self._rest))
        self._checks = 0
        self._ask(False)

    def finish(self, status: int) -> None:
        """Show a last line without a newline at the end of the output."""
        self._check_timer.stop()
        if self._rest:
            self.query_one(Log).write_line(plain(self._rest))
            self._rest = ""
        self.query_one(OpenLine).show("")
        self.status = status
        if self.line.has_focus:
            self.screen.set_focus(self.query_one(Log))
        self.line.disabled = True
        self.line.placeholder = "the program has ended"
        self._ask(False)
        self._show_state()
        self.post_message(self.Ended(self, status))

    # --------------------------------------------------------------------- what it asks

    def _check_input(self) -> None:
        """After a pause of the output, check whether the program waits for input."""
        if self._checks:
            reading = self.program.is_reading
            if reading is None:
                reading = self._checks >= _SILENT and bool(self._rest) and "\r" not in self._rest
            self._ask(reading)
        self._checks += 1

    def _ask(self, asks: bool) -> None:
        if asks != self.asks:
            self.set_class(asks, "-asks")
            self.line.password = asks and self.program.hides_input
            self._show_state()
            self.post_message(self.Asked(self))

    def _show_state(self) -> None:
        words = "output of the program"
        if self.status is not None:
            went = f"which ended with status {self.status}"
            words += f", {status_words(self.status) if self.status < 0 else went}"
        note = "waits for input: a or Tab answers" if self.asks else ""
        self.query_one(PaneTitle).show(words, note)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._say(event.value + "\r")

    def on_answer_ended(self, message: Answer.Ended) -> None:
        """End the input, after sending the text in the line as a terminal does."""
        message.stop()
        self._say(self.line.value)
        self.program.end_input()

    def _say(self, text: str) -> None:
        self.program.type(text)
        self.line.value = ""
        self._checks = 0
        self._ask(False)


def _last_state(line: str) -> str:
    """The last state of a line that is overwritten."""
    *parts, end = line.split("\r")
    if not parts:
        return line
    last = end or next(filter(None, reversed(parts)), "")
    return f"\r{last}" if end else f"\r{last}\r"


def plain(line: str) -> str:
    """A line as a terminal would finally show it."""
    parts = _ESCAPES.sub("", line).split("\r")
    return clean(next((part for part in reversed(parts) if part), "").expandtabs(8))
