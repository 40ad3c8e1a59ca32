"""What the program prints, and a line to answer it."""

from __future__ import annotations

import re
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Log

from navigator.tui.text import clean
from navigator.tui.widgets.bars import PaneTitle

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


class OutputLog(Vertical):
    """The program's terminal as text: colours and cursor movements are left out."""

    DEFAULT_CSS: ClassVar[str] = """
    OutputLog {
        Log { height: 1fr; background: $background; scrollbar-size-vertical: 1; }
        Input { height: 1; border: none; padding: 0 1; background: $surface; }
    }
    """

    _rest = ""

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        yield Log(max_lines=20_000)
        yield Input(placeholder="a line for the program's stdin", id="stdin")

    def on_mount(self) -> None:
        self.show_title("output of the program")

    def show_title(self, text: str) -> None:
        self.query_one(PaneTitle).show(text)

    def write(self, text: str) -> None:
        """Show what was printed; a line that is drawn over itself keeps its last state."""
        *lines, self._rest = (self._rest + text).replace("\r\n", "\n").split("\n")
        if lines:
            self.query_one(Log).write_lines([plain(line) for line in lines])

    def finish(self) -> None:
        """Nothing more will come: show a last line without an end."""
        if self._rest:
            self.query_one(Log).write_line(plain(self._rest))
            self._rest = ""


def plain(line: str) -> str:
    """A line of a terminal's text as it would look in the end."""
    parts = _ESCAPES.sub("", line).split("\r")
    return clean(next((part for part in reversed(parts) if part), "").expandtabs(8))
