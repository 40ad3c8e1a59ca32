"""Keeps the trace whole if the process forks, exits early or is terminated: signal handlers write
the trace first, and are hidden from the program."""

from __future__ import annotations

import atexit
import functools
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from .hiding.tracebacks import hide_from_formatted, hide_from_stacks, hide_from_warnings
from .run import Run, is_python
from .session import Session, in_main_thread
from .writer import TraceFile


class Guard:
    """The recording of this process; after a fork, in the child, that of the child.

    The program may replace every hook that is installed here; then its own applies.
    """

    def __init__(self, run: Run, file: TraceFile, start: Callable[[TraceFile], Session]) -> None:
        self._run, self._file = run, file
        self._start = start
        """Starts recording this process into a file."""
        self._recorder = start(file)
        self._followed = run.follows
        """Whether a child that is forked now can be recorded."""
        self._ended = False

    def install(self) -> None:
        self._restore_signals = on_termination(self.finish)
        atexit.register(self.finish)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before_fork, after_in_parent=self._forked, after_in_child=self._begin
            )
        for name in ("_exit", "abort"):
            _before(name, lambda *_: self.finish())
        for name in ("execv", "execve"):
            _before(name, self._replaced)
        self._run.watch_starts()
        hide_from_formatted()
        hide_from_stacks()
        hide_from_warnings()

    def finish(self) -> None:
        """Write what is left and report what is missing; only once."""
        if self._ended:
            return
        self._ended = True
        if self._run.missed:
            self._recorder.note(self._run.missing())
        self._recorder.finish()
        self._run.close(self._file)

    def _replaced(self, path: Any, arguments: Any, *_environ: Any) -> None:
        """Another program replaces this process."""
        if not self._run.follows and is_python([path, *arguments[1:]]):
            self._run.missed += 1
        self.finish()

    # ---------------------------------------------------------------------------- forks

    def _before_fork(self) -> None:
        self._recorder.pause()
        self._followed = self._run.follows and not self._recorder.is_open()

    def _forked(self) -> None:
        if not self._followed:
            self._run.missed += 1
        self._recorder.resume()

    def _begin(self) -> None:
        """Start recording in a forked child."""
        self._recorder.abandon()
        self._file.close()
        self._run = self._run.forked()
        self._ended = not self._followed
        if not self._followed:
            self._restore_signals()
        else:
            self._file = self._run.open(sys.argv)
            self._recorder = self._start(self._file)
            atexit.unregister(self.finish)
            atexit.register(self.finish)  # before the handlers of the new file


def _before(name: str, action: Callable[..., None]) -> None:
    """Run ``action`` before a function of ``os`` that ends or replaces the process."""
    original = getattr(os, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        action(*args, **kwargs)
        return original(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    setattr(os, name, call)


_NUMBERS = (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))


def on_termination(finish: Callable[[], None]) -> Callable[[], None]:
    """Call ``finish`` before terminating signals take their default effect.

    Returns a function that undoes this, for forked children without a trace: Python's handlers wait
    for the running operator, so a child that hangs in one would never end.
    """

    def die(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        finish()
        os.kill(os.getpid(), number)

    get, put = signal.getsignal, signal.signal

    def replace(old: Any, new: Any) -> None:
        if in_main_thread():
            for number in _NUMBERS:
                if get(number) == old:
                    put(number, new)

    replace(signal.SIG_DFL, die)
    _hide(die)
    return functools.partial(replace, die, signal.SIG_DFL)


def _hide(ours: Any) -> None:
    """Libraries look up the present handler of a signal before they set their own."""
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
