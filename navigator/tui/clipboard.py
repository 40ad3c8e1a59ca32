"""Copies text to the clipboard, and knows terminals that ignore it.

Terminals receive text for the clipboard by an escape sequence (OSC 52) without confirming it. Some
are known to ignore it.
"""

from __future__ import annotations

import os
import subprocess
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Label, TextArea

from navigator.tui.background import say
from navigator.tui.context import Context


def is_deaf() -> bool:
    """Whether the terminal is known to ignore OSC 52."""
    if "TMUX" in os.environ:
        return False
    if os.environ.get("TERM_PROGRAM") == "Apple_Terminal" or os.environ.get("TERM") == "linux":
        return True
    return "VTE_VERSION" in os.environ


def copy_to_tmux(text: str) -> bool:
    """Pass ``text`` to tmux, which by default ignores OSC 52 from programs inside it.

    True if tmux accepted it, for its paste buffer and the outer terminal.
    """
    if "TMUX" not in os.environ:
        return False
    command = ["tmux", "load-buffer", "-w", "-"]
    try:
        done = subprocess.run(
            command, check=False, input=text.encode(), capture_output=True, timeout=2
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def copy(owner: Widget, context: Context, text: str) -> None:
    """Copy a text, and show it if copying is known to fail."""
    if not text:
        say(owner, "there is nothing here to copy")
        return
    context.copied = text
    if context.config.clipboard == "show" or is_deaf():
        show_copied(owner, context)
    else:
        owner.app.copy_to_clipboard(text)
        say(owner, f"copied {text} (Y shows it, if your terminal refused)")


def show_copied(owner: Widget, context: Context) -> None:
    """Show the last copied text."""
    if context.copied:
        owner.app.clear_notifications()
        owner.app.push_screen(CopiedScreen(context.copied))


class CopiedScreen(ModalScreen[None]):
    """A text to select by hand, for terminals without clipboard support."""

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
