"""The about screen: the source or trace in use, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
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
    """Names and values, one line each."""

    CSS_PATH = Path(__file__).with_name("about.tcss")

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,i,enter", "app.pop_screen", "Close", id="about.close", priority=True)
    ]

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        super().__init__()
        self._lines = [
            Content.assemble((f"{name:<9}", "dim"), one_line(text)) for name, text in pairs if text
        ]

    def compose(self) -> ComposeResult:
        with Vertical(id="about"):
            yield Static(Content("\n").join(self._lines))


def about_source(info: SourceInfo, problems: Sequence[Problem]) -> list[tuple[str, str]]:
    """The properties of a source tree."""
    dirty = ", with uncommitted changes" if info.dirty else ""
    rest = len(problems) - _PROBLEMS
    return [
        ("source", f"{info.kind}, PyTorch {info.version}"),
        ("folder", info.root),
        ("commit", f"{info.commit or 'not known'}{dirty}"),
        *(("extension", f"@{name}: {top}") for name, top in info.roots),
        *(("missing", text) for text in info.missing),
        *(
            ("problem", f"{place(Location(problem.path, problem.line), 50)}: {problem.message}")
            for problem in problems[:_PROBLEMS]
        ),
        ("", f"and {rest:,} more: torchnav doctor" if rest > 0 else ""),
    ]
