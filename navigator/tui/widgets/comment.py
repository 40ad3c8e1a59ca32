"""A widget for the comment of the selected row."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content
from textual.widget import Widget

from navigator.tui.text import clean


class Comment(Widget):
    """A text about a place."""

    DEFAULT_CSS: ClassVar[str] = """
    Comment {
        display: none;
        height: auto;
        max-height: 12;
        padding: 0 1;
        color: $text-muted;
        border-top: solid $panel;
        &.-shown { display: block; }
    }
    """

    _text = ""

    def show(self, text: str) -> None:
        """Show a comment; an empty one hides the widget."""
        self._text = "\n".join(clean(line) for line in text.strip().split("\n"))
        self.set_class(bool(self._text), "-shown")
        self.refresh(layout=True)

    def render(self) -> Content:
        return Content(self._text)
