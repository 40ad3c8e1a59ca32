"""What waits for the reader's typing: things that are not done for every key while one is held
down, and an Enter that means what was typed."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from textual.message_pump import MessagePump
from textual.timer import Timer


class Pause:
    """Calls after a pause in the calls."""

    def __init__(self, owner: MessagePump, seconds: float) -> None:
        self._owner = owner
        self._seconds = seconds
        self._timer: Timer | None = None

    def __call__(self, callback: Callable[[], object]) -> None:
        """Call ``callback`` soon; a later one replaces it while it is waiting."""
        self.cancel()
        self._timer = self._owner.set_timer(self._seconds, callback)

    def cancel(self) -> None:
        """Forget the call that is waiting."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None


class Debounce(Pause):
    """Calls at once when the last call was a while ago, else after a pause in the calls."""

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
    """Puts off a choice until the answer to the whole text is there."""

    def __init__(self, ask: Callable[[str], None], choose: Callable[[], None]) -> None:
        self._ask = ask
        self._choose = choose
        self._answered = ""
        self._wanted: str | None = None

    def enter(self, text: str) -> None:
        """The reader chose, with ``text`` in the input."""
        if text == self._answered:
            self._choose()
        else:
            self._wanted = text
            self._ask(text)

    def answered(self, text: str) -> None:
        """The rows for ``text`` are on screen."""
        self._answered = text
        if self._wanted == text:
            self._wanted = None
            self._choose()
