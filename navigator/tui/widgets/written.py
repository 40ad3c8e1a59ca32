"""Widgets that are a few words, drawn with every key."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style as VisualStyle

from navigator.tui.widgets.kept import Kept


class Written(Kept):
    """A text that is drawn as it is: it has no links, tints or alignment, for which Textual would
    look in every line, for three times as long."""

    def render(self) -> Content:
        raise NotImplementedError

    def draw_lines(self, crop: Region) -> list[Strip]:
        plain = crop == self.outer_size.region and self.text_selection is None
        if not plain or not self.size:
            return super().draw_lines(crop)
        above = Region(0, 0, crop.width, self.gutter.top)
        border = super().draw_lines(above) if above else []
        behind, background = self.background_colors
        around = VisualStyle(background=behind + background).rich_style
        lines = [*self._written(crop.width, around)]
        for one in self.get_line_filters():
            lines = [one.apply(line, background) for line in lines]
        return [*border, *(Strip(line, crop.width) for line in lines)]

    def _written(self, width: int, around: Style) -> Iterable[list[Segment]]:
        """The lines of the text, with what is left and right of them."""
        text, height = self.render(), self.size.height
        fits = text.cell_length <= self.size.width and "\n" not in text.plain
        lines = [text] if fits else text.wrap(self.size.width)[:height]
        for line in [*lines, *[Content("")] * (height - len(lines))]:
            left = [Segment(" " * self.gutter.left, around)] if self.gutter.left else []
            yield Segment.adjust_line_length([*left, *self._segments(line)], width, around)

    def _segments(self, line: Content) -> Iterable[Segment]:
        base = self.visual_style
        for text, style in line.render(base, ""):
            yield Segment(text, (base + style).rich_style)
