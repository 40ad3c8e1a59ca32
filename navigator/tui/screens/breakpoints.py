"""Layouts that follow the size of the terminal, from the first one on."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen


def fit_terminal(screen: Screen[Any]) -> None:
    """Give a screen the classes of its breakpoints, and no others.

    Textual does so when the terminal changes its size, on the screen that is on top then: the
    first layout and one behind another screen would not fit.
    """
    width, height = screen.app.size
    sizes = (width, screen.HORIZONTAL_BREAKPOINTS), (height, screen.VERTICAL_BREAKPOINTS)
    for size, breakpoints in sizes:
        known = sorted(breakpoints or ())
        fitting = [name for least, name in known if least <= size][-1:]
        screen.remove_class(*(name for _, name in known if name not in fitting), update=False)
        screen.add_class(*fitting, update=False)
