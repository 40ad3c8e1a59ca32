"""Keys typed before a screen is ready are kept for it, as on any terminal line."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from navigator.tui.screens.chords import ChordScreen
from navigator.tui.widgets.filter_input import ENTER

_KEPT = (*ENTER, "backspace")
"""Besides letters."""


class EarlyKeys(ChordScreen):
    """A screen that begins with an input."""

    _early: list[events.Key] | None = None
    _is_open = False

    def take_key(self, event: events.Key) -> bool:
        if self._is_open or not (event.is_printable or event.key in _KEPT):
            return super().take_key(event)
        self._early = [*(self._early or []), event]
        return True

    def begin_in(self, line: Input) -> None:
        """The input is there: it gets the keys, those already typed first."""
        self._is_open = True
        self.set_focus(line)
        for event in self._early or ():
            self.app.post_message(events.Key(event.key, event.character))
        self._early = None
