"""What an empty pane says instead of nothing."""

from __future__ import annotations

import textwrap
from functools import lru_cache
from typing import Protocol

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size


class Pane(Protocol):
    """A pane that may have nothing to show but a message."""

    message: str

    @property
    def size(self) -> Size: ...
    @property
    def base(self) -> Style: ...


def message_line(pane: Pane, y: int) -> list[Segment]:
    """Line ``y`` of the message, wrapped into the pane below a blank line."""
    width = max(0, pane.size.width)
    lines = _wrapped(pane.message, width - 4)
    text = f"  {lines[y]}" if y < len(lines) else ""
    style = pane.base
    return Segment.adjust_line_length([Segment(text, style)], width, style)


@lru_cache(8)
def _wrapped(message: str, width: int) -> list[str]:
    lines = [line for part in message.split("\n") for line in _wrap(part, width)]
    return ["", *lines] if message else []


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(10, width)) or [""]
