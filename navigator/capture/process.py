"""Keeps the trace whole when the process forks, exits early or is told to stop."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from .session import Session
from .tracebacks import hide_from_formatted, hide_from_warnings
from .writer import TraceFile


def guard(recorder: Session, file: TraceFile) -> None:
    """Install every guard. The program can replace each of them; then its own applies."""

    def finish() -> None:
        recorder.finish()
        file.report()

    atexit.register(finish)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=recorder.pause, after_in_parent=recorder.resume, after_in_child=recorder.abandon
        )
    for name in ("_exit", "abort", "execv", "execve"):
        _before(name, finish)
    _on_termination(finish)
    hide_from_formatted()
    hide_from_warnings()


def _before(name: str, action: Callable[[], None]) -> None:
    """Do ``action`` before a function of ``os`` that ends the program at once."""
    original = getattr(os, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        action()
        return original(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    setattr(os, name, call)


def _on_termination(finish: Callable[[], None]) -> None:
    """Do what the signals do by default, after the trace is written."""

    def die(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        finish()
        os.kill(os.getpid(), number)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, die)
