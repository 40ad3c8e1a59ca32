"""Component styles in layers: the letters of one over the background of another.

Colours with transparency are blended with the widget's background first, which is what
Rich styles cannot do.
"""

from __future__ import annotations

from rich.style import Style
from textual.scroll_view import ScrollView


class InkedView(ScrollView):
    """A view that draws its own lines in styles from the style sheet."""

    PREFIX = ""
    """What the names of its component classes begin with."""

    _inks: dict[str, Style]
    _papers: dict[str, Style]

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
