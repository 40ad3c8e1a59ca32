"""What holds panes."""

from __future__ import annotations

from textual.containers import Container
from textual.geometry import Region
from textual.strip import Strip


class Frame(Container):
    """Has nothing to show of its own: what is not covered by panes is the screen behind it.
    Textual would make a screenful of blanks for each, with every key."""

    def render_lines(self, crop: Region) -> list[Strip]:
        return []
