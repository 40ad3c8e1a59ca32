"""Do a thing not for every key while a key is held down."""

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
