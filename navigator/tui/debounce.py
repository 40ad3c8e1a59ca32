"""Delays: for actions while keys repeat, and for Enter until the answer is there."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from textual.message_pump import MessagePump
from textual.timer import Timer


class Pause:
    """Calls a function after a pause."""

    def __init__(self, owner: MessagePump, seconds: float) -> None:
        self._owner = owner
        self._seconds = seconds
        self._timer: Timer | None = None

    def __call__(self, callback: Callable[[], object]) -> None:
        """Call ``callback`` soon; a later one replaces it."""
        self.cancel()
        self._timer = self._owner.set_timer(self._seconds, callback)

    def cancel(self) -> None:
        """Drop the waiting call."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None


class Debounce(Pause):
    """Calls a function at once if the last call was a while ago, else after a pause."""

    def __init__(self, owner: MessagePump, seconds: float) -> None:
        super().__init__(owner, seconds)
        self._last = float("-inf")

    def __call__(self, callback: Callable[[], object]) -> None:
        """Call ``callback`` now or soon."""
        now = monotonic()
        quiet = now - self._last > self._seconds
        self._last = now
        if quiet:
            self.cancel()
            callback()
        else:
            super().__call__(callback)


class TypeAhead:
    """Delays a choice until the answer for the whole text has arrived."""

    def __init__(self, ask: Callable[[str], None], choose: Callable[[], None]) -> None:
        self._ask = ask
        self._choose = choose
        self._answered = ""
        self._entered: str | None = None

    def enter(self, text: str) -> None:
        """Enter was pressed with ``text`` in the input."""
        if text == self._answered:
            self._choose()
        else:
            self._entered = text
            self._ask(text)

    def answered(self, text: str) -> None:
        """The rows for ``text`` are on screen."""
        self._answered = text
        if self._entered == text:
            self._entered = None
            self._choose()
