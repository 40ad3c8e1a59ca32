"""The start screen without a source of PyTorch: fetch one, or name a tree or a Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from indexes.model.errors import Progress, SourceError, TorchnavError
from indexes.source.source import Source
from indexes.source.torch_install import choose_python, target_python
from navigator.cli.clone_source import clone, plan
from navigator.cli.terminal import ProgressLine
from navigator.tui.text import one_line

CLONED = "main"
"""The default version, if no installed torch suggests one."""
_NEEDS = """\
torchnav reads PyTorch's source, and found none on this machine:
no checkout around this folder, no clone of its own,
and no Python with torch.
"""
_NAMED = "torchnav reads PyTorch's source, and cannot read the tree that was named."
_CHOICES = {
    "clone": f"c  Fetch PyTorch's branch {CLONED} with git",
    "tree": "t  Use a checkout of PyTorch",
    "python": "p  Use a Python that has torch: its wheel holds part of the source",
}
_ASKED = {"tree": "the folder of the checkout", "python": "path of the Python, or its name"}


class Start(NamedTuple):
    """The user's choice."""

    kind: str
    """``clone``, ``tree`` or ``python``."""
    name: str = ""
    """The folder, or the Python."""


class StartApp(App[Start]):
    """Asks for the source; returns None if the user leaves.

    Parameters:
        reason: Why the named tree can't be used; empty without one.
        check: Raises TorchnavError for an invalid choice.
    """

    TITLE = "torchnav"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Static { padding: 1 2 0 2; }
    OptionList { margin: 1 2; height: auto; border: none; }
    Input { margin: 0 2; }
    #wrong { color: $text-error; }
    .-hidden { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "take('clone')", "Fetch"),
        Binding("t", "take('tree')", "Checkout"),
        Binding("p", "take('python')", "Python"),
        Binding("escape", "no_name", "Back", show=False),
        Binding("q,ctrl+q", "quit", "Quit"),
    ]

    def __init__(self, reason: str, check: Callable[[Start], object]) -> None:
        super().__init__()
        self._reason, self._check, self._kind = reason, check, ""

    def compose(self) -> ComposeResult:
        yield Static(_NAMED if self._reason else _NEEDS, markup=False)
        yield OptionList(
            *(Option(words, id=kind) for kind, words in _CHOICES.items()), markup=False
        )
        yield Input(classes="-hidden")
        yield Static(one_line(self._reason), id="wrong", markup=False)
        yield Footer()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.action_take(event.option_id or "")

    def action_take(self, kind: str) -> None:
        """Fetch, or ask for the path that a choice needs."""
        if kind not in _ASKED:
            self.exit(Start(kind))
            return
        self._kind = kind
        line = self.query_one(Input)
        line.placeholder = _ASKED[kind]
        line.remove_class("-hidden")
        line.focus()

    def action_no_name(self) -> None:
        """Cancel the input."""
        self.query_one(Input).add_class("-hidden")
        self.query_one(OptionList).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        start = Start(self._kind, event.value.strip())
        try:
            self._check(start)
        except TorchnavError as error:
            self.query_one("#wrong", Static).update(one_line(str(error)))
        else:
            self.exit(start)


def ask_for_source(reason: str, cache: Path | None) -> str | None:
    """The tree that the user names or fetches; None if they leave.

    Parameters:
        reason: Why the named tree can't be used; empty without one.

    Raises:
        TorchnavError: It cannot be fetched.
    """
    start = StartApp(reason, partial(_source, cache)).run()
    if start is None:
        return None
    if start.kind == "clone":
        with ProgressLine() as line:
            clone(plan(CLONED), cache, lambda *parts: line(Progress(*parts)))
    return str(_source(cache, start).root)


def _source(cache: Path | None, start: Start) -> Source:
    """The source for a choice. Raises TorchnavError if there is none."""
    if start.kind != "python":
        return Source.find(start.name or None, cache)
    choose_python(start.name, "chosen on the first screen")
    if target_python().torch is None:
        raise SourceError(f"{start.name} has no torch")
    return Source.find(None, cache)
