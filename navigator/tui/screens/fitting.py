"""Layouts that follow the size of the terminal, from the first one on."""

from __future__ import annotations

from textual import events
from textual.screen import Screen


class FittingScreen(Screen[object]):
    """Takes the classes of its breakpoints whenever it comes on top. Textual looks at them only
    when the terminal changes its size, and then only on the screen that is on top."""

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
