"""A thread that does something a few times a second while the program runs."""

from __future__ import annotations

import _thread
from collections.abc import Callable

INTERVAL_S = 0.2


class Announcer:
    """Not a ``threading.Thread``, so that the program does not find it among its own."""

    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick
        self._stop = _thread.allocate_lock()
        self._stopped = _thread.allocate_lock()

    def start(self) -> None:
        self._stop.acquire()
        self._stopped.acquire()
        _thread.start_new_thread(self._run, ())

    def stop(self) -> None:
        """Returns when the thread has ended; it can be started again."""
        if self._stop.locked():
            self._stop.release()
            self._stopped.acquire()
            self._stopped.release()

    def _run(self) -> None:
        try:
            while not self._stop.acquire(timeout=INTERVAL_S):
                self._tick()
        finally:
            self._stop.release()
            self._stopped.release()
