"""Where the rows of the trace screen come from: a file, or a program while it runs."""

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
"""How often new rows are looked for."""

Show = Callable[[Trace, bool], object]
"""Is called with a trace as far as it is known, and whether that is all."""


class Recording(Protocol):
    """A trace to be read."""

    title: str
    waiting: str
    """What is said while there are no rows."""
    program: RunningProgram | None
    """The program that is being recorded, if there is one."""

    def read(self, show: Show, progress: Callable[[int], object], stop: Event) -> None:
        """Hand on the trace until there is no more of it. For a thread.

        Raises TraceError with the reason why a file is none.
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
    """A trace that a program is being recorded into."""

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
