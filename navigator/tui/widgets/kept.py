"""Lines that are drawn once and handed out until they are others."""

from __future__ import annotations

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class Kept(Widget):
    """A widget whose lines are kept. Textual would go through the styles of each of them with
    every key, whatever that key has changed. Name it last among the bases: the first one
    gives its style."""

    _kept: tuple[Region, list[Strip]] | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._kept is None or self._kept[0] != crop:
            self._kept = crop, self.draw_lines(crop)
        return self._kept[1]

    def draw_lines(self, crop: Region) -> list[Strip]:
        """The lines of a part of the widget, as they are now."""
        return super().render_lines(crop)

    def _set_dirty(self, *regions: Region) -> None:
        super()._set_dirty(*regions)
        self._kept = None

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._kept = None
