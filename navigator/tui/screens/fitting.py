"""Layouts that follow the size of the terminal, from the first one on."""

from __future__ import annotations

from textual import events
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.style import Style

from navigator.tui.widgets.kept import Kept


class FittingScreen(Screen[object], Kept):
    """Takes the classes of its breakpoints whenever it comes on top. Textual looks at them only
    when the terminal changes its size, and then only on the screen that is on top."""

    def draw_lines(self, crop: Region) -> list[Strip]:
        """Nothing: a screen is what is behind its panes, if it is not before another one."""
        if self.is_modal:
            return super().draw_lines(crop)
        behind, background = self.background_colors
        blank = Strip.blank(crop.width, Style(background=behind + background).rich_style)
        for one in self.get_line_filters():
            blank = blank.apply_filter(one, background)
        return [blank] * crop.height

    def fit_terminal(self) -> None:
        """Take the classes for the size of the terminal, and no others."""
        width, height = self.app.size
        sizes = (width, self.HORIZONTAL_BREAKPOINTS), (height, self.VERTICAL_BREAKPOINTS)
        for size, breakpoints in sizes:
            known = sorted(breakpoints or ())
            fitting = [name for least, name in known if least <= size][-1:]
            self.remove_class(*(name for _, name in known if name not in fitting), update=False)
            self.add_class(*fitting, update=False)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        self.fit_terminal()
