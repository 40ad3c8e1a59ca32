"""The names of a trace's views on one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.message import Message

from navigator.tui.text import one_line
from navigator.tui.widgets.bars import Bar


class ViewTabs(Bar):
    """Names of views; if they do not fit, those around the current one."""

    ALLOW_SELECT = False

    DEFAULT_CSS: ClassVar[str] = "ViewTabs { background: $surface; color: $text-muted; }"

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, key: str) -> None:
        """``key`` switches to the next view."""
        super().__init__()
        self._key = key
        self._names: Sequence[str] = ()
        self._current = ""
        self._ends: list[tuple[int, str]] = []
        """(column after a name, the name)"""

    def show(self, names: Sequence[str], current: str) -> None:
        if (self._names, self._current) != (names, current):
            self._names, self._current = names, current
            self.refresh()

    def render(self) -> Content:
        hint = f" {self._key} "
        first, last = self._window(self.size.width - len(hint))
        parts: list[tuple[str, str]] = []
        self._ends = []
        if first:
            self._add(parts, "‹", "dim", self._names[first - 1])
        for name in self._names[first:last]:
            style = "bold $text-accent reverse" if name == self._current else ""
            self._add(parts, f" {one_line(name)} ", style, name)
        if last < len(self._names):
            self._add(parts, "›", "dim", self._names[last])
        gap = self.size.width - (self._ends[-1][0] if self._ends else 0) - len(hint)
        return Content.assemble(*parts, " " * max(gap, 0), (hint, "bold $footer-key-foreground"))

    def _add(self, parts: list[tuple[str, str]], text: str, style: str, name: str) -> None:
        parts.append((text, style))
        self._ends.append(((self._ends[-1][0] if self._ends else 0) + len(text), name))

    def _window(self, width: int) -> tuple[int, int]:
        """The range of names to show, including the current one."""
        lengths = [len(name) + 2 for name in self._names]
        if sum(lengths) <= width:
            return 0, len(lengths)
        shown = self._names.index(self._current) if self._current in self._names else 0
        first, last, room = 0, shown + 1, width - 2
        while first < shown and sum(lengths[first:last]) > room:
            first += 1
        while last < len(lengths) and sum(lengths[first : last + 1]) <= room:
            last += 1
        return first, last

    def on_click(self, event: events.Click) -> None:
        event.stop()
        for end, name in self._ends:
            if event.x < end:
                self.post_message(self.Chosen(name))
                return
