"""A scroll bar that moves with every key and therefore must cost little."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip

from navigator.tui.widgets.kept import Kept


class QuickBar(ScrollBar, Kept):
    """Looks and acts as Textual's, which lays a bar out as it does any text, for a third of the
    time that a screen takes."""

    virtual_size = Reactive(Size(0, 0), layout=False)  # a new length has been laid out already

    def draw_lines(self, crop: Region) -> list[Strip]:
        _, background = self.background_colors
        lines = self._lines(Style(bgcolor=background.rich_color))[crop.y : crop.bottom]
        for one in self.get_line_filters():
            lines = [line.apply_filter(one, background) for line in lines]
        return lines

    def _lines(self, base: Style) -> list[Strip]:
        bar = self.render()
        assert isinstance(bar, ScrollBarRender)
        style = self.app.console.get_style(bar.style)
        assert style.bgcolor is not None
        assert style.color is not None
        parts = bar.render_bar(
            self.size.height,
            bar.virtual_size,
            bar.window_size,
            bar.position,
            bar.thickness,
            bar.vertical,
            style.bgcolor,
            style.color,
        ).segments
        known = {  # a bar has only a few different lines
            (text, ink): Strip([Segment(text, base + ink)], self.thickness)
            for text, ink in dict.fromkeys((text, ink) for text, ink, _ in parts)
        }
        return [known[text, ink] for text, ink, _ in parts]
