"""Shows a text to be selected by hand, for terminals that take none for the clipboard."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Label, TextArea


class CopiedScreen(ModalScreen[None]):
    """The text that was to be copied."""

    CSS_PATH = "copied.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "app.pop_screen", "Close", id="copied.close", priority=True)
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(id="copied"):
            yield Label("Select it with the mouse (hold Shift in most terminals). Esc closes.")
            yield TextArea(self._text, read_only=True, soft_wrap=True)
