"""Applies a screen's layout for the terminal size from the first layout on."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen


def fit_terminal(screen: Screen[Any]) -> None:
    """Give a screen the classes for its breakpoints.

    Textual only does so on a resize, for the top screen, which misses the first layout and screens
    behind others.
    """
    width, height = screen.app.size
    sizes = (width, screen.HORIZONTAL_BREAKPOINTS), (height, screen.VERTICAL_BREAKPOINTS)
    for size, breakpoints in sizes:
        known = sorted(breakpoints or ())
        fitting = [name for least, name in known if least <= size][-1:]
        screen.remove_class(*(name for _, name in known if name not in fitting), update=False)
        screen.add_class(*fitting, update=False)
