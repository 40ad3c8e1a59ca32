"""Component styles in layers: the letters of one over the background of another.

Colours with transparency are blended with the widget's background first, which is what
Rich styles cannot do.
"""

from __future__ import annotations

from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip


class InkedView(ScrollView):
    """A view that draws its own lines in styles from the style sheet."""

    PREFIX = ""
    """What the names of its component classes begin with."""

    _inks: dict[str, Style]
    _papers: dict[str, Style]
    base = Style()
    """The view's own style while its lines are drawn: worked out once for all of them."""

    def render_lines(self, crop: Region) -> list[Strip]:
        self.base = self.rich_style
        return super().render_lines(crop)

    def set_content_size(self, size: Size) -> None:
        """Say how large the content is. The screen is laid out anew only if a scroll bar
        comes or goes, which Textual finds out itself."""
        self.set_reactive(ScrollView.virtual_size, size)
        self._scroll_update(size)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._inks, self._papers = {}, {}

    def ink(self, name: str) -> Style:
        """The colour and weight of the letters of a component, without its background."""
        if name not in self._inks:
            style = self.get_component_rich_style(f"{self.PREFIX}{name}")
            self._inks[name] = Style(
                color=style.color, bold=style.bold, italic=style.italic, reverse=style.reverse,
                dim=style.dim, underline=style.underline,
            )  # fmt: skip
        return self._inks[name]

    def paper(self, name: str) -> Style:
        """The background of a component."""
        if name not in self._papers:
            style = self.get_component_rich_style(f"{self.PREFIX}{name}")
            self._papers[name] = Style(bgcolor=style.bgcolor)
        return self._papers[name]
