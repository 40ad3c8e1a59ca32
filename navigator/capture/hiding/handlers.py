"""Signals that end the program write the trace first; the program finds them unhandled."""

from __future__ import annotations

import functools
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_NUMBERS = (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))


def on_termination(finish: Callable[[], None]) -> Callable[[], None]:
    """Call ``finish`` before the signals do what they do by default.

    What is returned takes that back, for a forked child that has no trace to write: a handler of
    Python's waits for the operator that runs, and a child that hangs in one would never end.
    """

    def die(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        finish()
        os.kill(os.getpid(), number)

    get, put = signal.getsignal, signal.signal

    def replace(old: Any, new: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in _NUMBERS:
                if get(number) == old:
                    put(number, new)

    replace(signal.SIG_DFL, die)
    _hide(die)
    return functools.partial(replace, die, signal.SIG_DFL)


def _hide(ours: Any) -> None:
    """Libraries ask what handles a signal before they set a handler of their own."""
    get, put = signal.getsignal, signal.signal

    def shown(handler: Any) -> Any:
        return signal.SIG_DFL if handler is ours else handler

    @functools.wraps(get)
    def getsignal(signalnum: int) -> Any:
        return shown(get(signalnum))

    @functools.wraps(put)
    def set_handler(signalnum: int, handler: Any) -> Any:
        return shown(put(signalnum, handler))

    signal.getsignal = getsignal
    signal.signal = set_handler
