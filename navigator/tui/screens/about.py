"""What the answers are from, and what that source does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from indexes.model.vocabulary import Location, Problem, SourceInfo
from navigator.tui.text import one_line, place

_PROBLEMS = 8


class AboutScreen(ModalScreen[None]):
    """The source tree in words."""

    CSS_PATH = "about.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,i,enter", "app.pop_screen", "Close", id="about.close", priority=True)
    ]

    def __init__(self, info: SourceInfo, problems: Sequence[Problem]) -> None:
        super().__init__()
        self._info = info
        self._problems = problems

    def compose(self) -> ComposeResult:
        with Vertical(id="about"):
            yield Static(Content("\n").join(self._lines()))

    def _lines(self) -> list[Content]:
        info = self._info
        dirty = ", with uncommitted changes" if info.dirty else ""
        lines = [
            _pair("source", f"{info.kind}, PyTorch {info.version}"),
            _pair("folder", info.root),
            _pair("commit", f"{info.commit or 'not known'}{dirty}"),
        ]
        lines += [_pair("missing", text) for text in info.missing]
        return lines + self._problem_lines()

    def _problem_lines(self) -> list[Content]:
        lines = [
            _pair("problem", f"{place(Location(one.path, one.line), 50)}: {one.message}")
            for one in self._problems[:_PROBLEMS]
        ]
        rest = len(self._problems) - len(lines)
        return lines + ([_pair("", f"and {rest:,} more: torchnav doctor")] if rest else [])


def _pair(name: str, text: str) -> Content:
    return Content.assemble((f"{name:<9}", "dim"), one_line(text))
