"""What a trace says about its run, and what it lacks."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from navigator.trace.trace import Trace
from navigator.tui.text import one_line


class AboutTraceScreen(ModalScreen[None]):
    """A trace in words."""

    CSS_PATH = "../screens/about.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,i,enter", "app.pop_screen", "Close", id="about.close", priority=True)
    ]

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._trace = trace

    def compose(self) -> ComposeResult:
        with Vertical(id="about"):
            yield Static(Content("\n").join(_line(*pair) for pair in self._pairs() if pair[1]))

    def _pairs(self) -> list[tuple[str, str]]:
        meta = self._trace.meta
        return [
            ("file", meta.path),
            ("format", meta.format),
            ("torch", meta.torch or "not known"),
            ("python", meta.python),
            ("program", " ".join(meta.command)),
            ("devices", ", ".join(meta.devices)),
            ("rows", f"{len(self._trace):,}"),
            ("kernels", f"{len(self._trace.table.kernels):,}"),
            *(("problem", problem) for problem in meta.problems),
            *(("lacks", what) for what in meta.lacks),
        ]


def _line(name: str, text: str) -> Content:
    return Content.assemble((f"{name:<9}", "dim"), one_line(text))
