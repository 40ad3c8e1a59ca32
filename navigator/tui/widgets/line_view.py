"""A view that renders its own lines, and only those on screen.

Measured on two cores, median and maximum milliseconds until idle: filtering 3,176 operators takes
27 and 78 here, 49 and 186 in an ``OptionList``, 101 and 291 in a ``DataTable``; a file of 16,000
lines 72 and 104 here, 222 and 435 in a ``TextArea``, over a second in a ``RichLog``; a chain of 120
hops 13 and 32 here, 43 and 64 in a ``Tree``. This is noticeable while typing.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from navigator.text.clean import printable


class LineView(ScrollView, can_focus=True):
    """Lines in styles from the style sheet: text style and background are separate."""

    PREFIX = ""
    """Prefix of its component classes."""

    message = reactive("")
    """Message while there are no lines."""

    @property
    def row_count(self) -> int:
        """How many lines there are."""
        raise NotImplementedError

    def draw_row(self, row: int, base: Style) -> Strip:
        """A line of the content; ``base`` is the default style."""
        raise NotImplementedError

    @property
    def top(self) -> int:
        """The first visible line."""
        return round(self.scroll_y)

    def render_line(self, y: int) -> Strip:
        base, row = self.rich_style, self.top + y
        if row < self.row_count:
            return self.draw_row(row, base)
        lines = _wrapped(self.message, self.size.width - 4) if not self.row_count else []
        return Strip([Segment(f"  {lines[y]}" if y < len(lines) else "", base)])

    def letters(self, name: str) -> Style:
        """The text style of a component, without its background."""
        return _letters(self.get_component_rich_style(f"{self.PREFIX}{name}"))

    def background_style(self, name: str) -> Style:
        """The background of a component, blended with the view's."""
        return self.get_component_rich_style(f"{self.PREFIX}{name}").background_style


@lru_cache(256)
def _letters(style: Style) -> Style:
    return Style(
        color=style.color,
        bold=style.bold,
        italic=style.italic,
        reverse=style.reverse,
        dim=style.dim,
        underline=style.underline,
    )


@lru_cache(8)
def _wrapped(message: str, width: int) -> list[str]:
    """The lines of a message below a blank one."""
    lines = [line for part in message.split("\n") for line in _wrap(part, width)]
    return ["", *lines] if message else []


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(printable(text), max(10, width)) or [""]


def overlaid(segments: Iterable[Segment], start: int, end: int, style: Style) -> Iterator[Segment]:
    """The segments with a style applied between two columns."""
    for text, own, _ in segments:
        first, last = max(0, start), max(0, start, end)
        parts = (text[:first], own), (text[first:last], (own or style) + style), (text[last:], own)
        yield from (Segment(part, look) for part, look in parts if part)
        start, end = start - len(text), end - len(text)
