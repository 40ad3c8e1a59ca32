"""A thread that does something a few times a second while the program runs."""

from __future__ import annotations

import _thread
import os
from collections.abc import Callable
from time import sleep

INTERVAL_S = 0.2
_ENDING_S, _STEP_S = 0.1, 0.0002


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
            _await_end(self._number)

    _number = 0
    """The operating system's for the thread."""

    def _run(self) -> None:
        self._number = _thread.get_native_id()
        try:
            while not self._stop.acquire(timeout=INTERVAL_S):
                self._tick()
        finally:
            self._stop.release()
            self._stopped.release()


def _await_end(number: int) -> None:
    """Waits until the operating system has let go of a thread that has nothing left to do: from
    Python 3.12 on a fork warns of every thread there is, by the system's count."""
    for _ in range(int(_ENDING_S / _STEP_S)):
        if not os.path.exists(f"/proc/self/task/{number}"):
            break
        sleep(_STEP_S)
