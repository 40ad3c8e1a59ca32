"""Sources of rows for the trace screen: a file, or a running program."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Protocol

from navigator.trace.readers.chrome import Feed
from navigator.trace.readers.replays import read_with_captures
from navigator.trace.running import RunningProgram
from navigator.trace.trace import Trace

_PAUSE_S = 0.15
"""Interval for checking for new rows."""

Show = Callable[[Trace, bool], object]
"""Called with the trace so far, and whether it is complete."""


class Recording(Protocol):
    """A trace to read."""

    title: str
    waiting: str
    """Message while there are no rows."""
    program: RunningProgram | None
    """The program being recorded, if any."""

    def read(self, show: Show, progress: Callable[[int], object], stop: Event) -> None:
        """Pass on the trace until it is complete. Call in a thread.

        Raises TraceError if the file is not a trace.
        """


class RecordedFile:
    """A trace from a file."""

    waiting = "reading the trace …"
    program: RunningProgram | None = None

    def __init__(self, file: Path, captures: Sequence[Path] = ()) -> None:
        self.title = file.name
        self._file, self._captures = file, captures

    def read(self, show: Show, progress: Callable[[int], object], stop: Event) -> None:
        def report(rows: int) -> bool:
            progress(rows)
            return not stop.is_set()

        def early(trace: Trace) -> None:
            show(trace, False)

        trace, _ = read_with_captures(self._file, self._captures, report, early)
        show(trace, True)


class RecordedProgram:
    """A trace of a running program."""

    waiting = "the program is starting …"

    def __init__(self, file: Path, program: RunningProgram, title: str) -> None:
        self.title = title
        self.program: RunningProgram | None = program
        self._feed = Feed(file)
        self._program = program

    def read(self, show: Show, progress: Callable[[int], object], stop: Event) -> None:
        running = True
        while running and not stop.is_set():
            running = self._program.is_running
            while self._feed.read() and not stop.is_set():
                show(self._feed.trace, False)
            time.sleep(_PAUSE_S)
        show(self._feed.finish(), True)
