"""Component styles in layers: the letters of one over the background of another.

Colours with transparency are blended with the widget's background first, which is what
Rich styles cannot do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip

from navigator.tui.widgets.quick_bar import QuickBar


class InkedView(ScrollView):
    """A view that draws its own lines in styles from the style sheet."""

    PREFIX = ""
    """What the names of its component classes begin with."""

    _inks: dict[str, Style]
    _papers: dict[str, Style]
    base = Style()
    """The view's own style while its lines are drawn: worked out once for all of them."""
    seen_width = 0
    """The columns that no scroll bar covers, while lines are drawn."""

    def __init__(self) -> None:
        super().__init__()
        self._painted: dict[int, Strip] = {}
        """The lines that are on screen as they should be."""

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        if self._vertical_scrollbar is None:
            bar = QuickBar(name="vertical", thickness=self.scrollbar_size_vertical)
            bar.display = False
            self._vertical_scrollbar = bar
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar

    def draw_line(self, y: int) -> list[Segment]:
        """A line of the view, as wide as is seen of it."""
        raise NotImplementedError

    def blank(self) -> list[Segment]:
        """A line with nothing on it."""
        return [Segment(" " * self.seen_width, self.base)]

    def _begin(self) -> None:
        self.base = self.rich_style
        self.seen_width = self.scrollable_content_region.width

    def render_line(self, y: int) -> Strip:
        """The same, for those who ask what is where on it."""
        self._begin()
        return Strip(self.draw_line(y), self.seen_width)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Lines and nothing around them. Textual would look for borders, padding, tints and more
        at each of them, which takes longer than to draw it."""
        missing = [y for y in crop.line_range if y not in self._painted]
        if missing:
            self._paint(missing)
        lines = [self._painted[y] for y in crop.line_range]
        return lines if crop.x == 0 else [line.crop(*crop.column_span) for line in lines]

    def _paint(self, missing: Sequence[int]) -> None:
        self._begin()
        _, background = self.background_colors
        filters = self.get_line_filters()
        for y in missing:
            line = self.draw_line(y)
            for one in filters:
                line = one.apply(line, background)
            self._painted[y] = Strip(line, self.seen_width)

    def _set_dirty(self, *regions: Region) -> None:
        super()._set_dirty(*regions)
        if not regions:
            self._painted.clear()
        for region in regions:
            for y in region.line_range:
                self._painted.pop(y, None)

    def set_content_size(self, size: Size) -> None:
        """Say how large the content is. The screen is laid out anew only if a scroll bar
        comes or goes, which Textual finds out itself."""
        self.set_reactive(ScrollView.virtual_size, size)
        self._scroll_update(size)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._inks, self._papers = {}, {}
        self._painted.clear()

    def ink(self, name: str) -> Style:
        """The colour and weight of the letters of a component, without its background."""
        if name not in self._inks:
            style = self.get_component_rich_style(f"{self.PREFIX}{name}")
            self._inks[name] = Style(
                color=style.color,
                bold=style.bold,
                italic=style.italic,
                reverse=style.reverse,
                dim=style.dim,
                underline=style.underline,
            )
        return self._inks[name]

    def paper(self, name: str) -> Style:
        """The background of a component."""
        if name not in self._papers:
            style = self.get_component_rich_style(f"{self.PREFIX}{name}")
            self._papers[name] = Style(bgcolor=style.bgcolor)
        return self._papers[name]


def laid_over(segments: Iterable[Segment], start: int, end: int, style: Style) -> Iterator[Segment]:
    """The segments with a style on top from one column to another."""
    for text, own, _ in segments:
        first, last = max(0, start), max(0, start, end)
        parts = (text[:first], own), (text[first:last], (own or style) + style), (text[last:], own)
        yield from (Segment(part, ink) for part, ink in parts if part)
        start, end = start - len(text), end - len(text)
