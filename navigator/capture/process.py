"""Keeps the trace whole when the process forks, exits early or is told to stop."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from typing import Any

from .hiding.handlers import on_termination
from .hiding.tracebacks import hide_from_formatted, hide_from_stacks
from .hiding.warned import hide_from_warnings
from .run import Run, is_python
from .session import Session
from .writer import TraceFile


class Guard:
    """The recording of this process and, after a fork, that of the child which is then this one.

    The program can replace everything that is installed; then its own applies.
    """

    def __init__(self, run: Run, file: TraceFile, start: Callable[[TraceFile], Session]) -> None:
        self._run, self._file = run, file
        self._start = start
        """Starts to record this process into a file."""
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
            _before(name, self._ending)
        for name in ("execv", "execve"):
            _before(name, self._replaced)
        self._run.watch_starts()
        hide_from_formatted()
        hide_from_stacks()
        hide_from_warnings()

    def finish(self) -> None:
        """Write what there is and say what there is not; only once."""
        if self._ended:
            return
        self._ended = True
        if self._run.missed:
            self._recorder.note(self._run.missing())
        self._recorder.finish()
        self._run.close(self._file)

    def _ending(self, *_arguments: Any) -> None:
        self.finish()

    def _replaced(self, path: Any, arguments: Any, *_environ: Any) -> None:
        """Another program takes the place of this one."""
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
        """In the child."""
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
            atexit.register(self.finish)  # it must come before what the new file has registered


def _before(name: str, action: Callable[..., None]) -> None:
    """Do ``action`` before a function of ``os`` that ends the program at once."""
    original = getattr(os, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        action(*args, **kwargs)
        return original(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    setattr(os, name, call)
