"""A process beside the screen that brings an index up to date: it takes seconds of all processors,
which in a thread of the screen's own process every key would wait for.

It tells how far it is and what came of it, one JSON object a line. It ends, and leaves nothing
half done, when it is told to and when the screen is no more, however that ended.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from indexes.model.errors import Cancelled, SourceError
from indexes.model.progress import Progress, Report
from navigator.tui.processes import worker as beside

if TYPE_CHECKING:
    import subprocess

    from indexes.model.vocabulary import SourceKind
    from indexes.source.source import Source

_LOOK = 0.1
"""Seconds between two looks whether it is to stop."""
_OFTEN = 0.05
"""Seconds between two reports of progress."""
_PATIENCE = 3.0
"""Seconds to clean up in."""


class EndedEarly(Exception):
    """The process ended and left no answer: it was killed, or there was no room for it."""


def possible() -> bool:
    """Whether this system has what it takes: timers, and pipes that can be waited for."""
    return hasattr(signal, "setitimer")


def bring_up(
    source: Source,
    cache: Path | None,
    progress: Callable[[Progress], None],
    cancelled: Callable[[], bool],
) -> Report:
    """Brings the index of ``source`` up to date. For a thread. Raises SourceError as
    ``Index.open`` does, Cancelled when ``cancelled`` says so, and EndedEarly."""
    arguments = (source.top, source.kind, str(cache or ""), str(os.getpid()))
    try:
        process = beside.start("navigator.tui.processes.index_process", *arguments)
    except OSError as error:
        raise EndedEarly(f"it could not start: {error.strerror}") from error
    try:
        return _answer(process, progress, cancelled)
    finally:
        _end(process)


def _answer(
    process: subprocess.Popen[bytes],
    progress: Callable[[Progress], None],
    cancelled: Callable[[], bool],
) -> Report:
    assert process.stdout is not None
    for told in _told(process.stdout, cancelled):
        if "stage" in told:
            progress(Progress(**told))
        elif "error" in told:
            raise SourceError(told["error"])
        else:
            return Report(**told)
    status = process.wait()
    raise EndedEarly(f"signal {-status}" if status < 0 else f"status {status}")


def _told(pipe: IO[bytes], cancelled: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    """What the process tells until it ends."""
    waiting = b""
    while not cancelled():
        if not select.select([pipe], [], [], _LOOK)[0]:
            continue
        received = os.read(pipe.fileno(), 1 << 16)
        if not received:
            return
        *lines, waiting = (waiting + received).split(b"\n")
        yield from map(json.loads, lines)
    raise Cancelled("indexing was cancelled; nothing was changed")


def _end(process: subprocess.Popen[bytes]) -> None:
    import subprocess

    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


# ------------------------------------------------------------------------- in the process


def main(top: str, kind: SourceKind, cache: str, screen: str) -> None:
    """Brings an index up to date for the screen whose process id is given."""
    from indexes.source.source import Source

    _end_with(int(screen))
    with suppress(OSError):
        os.nice(5)  # the screen comes first
    tell = _Telling(sys.stdout)
    with suppress(KeyboardInterrupt, BrokenPipeError):
        _bring_up(Source(top, kind), Path(cache) if cache else None, tell)


def _bring_up(source: Source, cache: Path | None, tell: _Telling) -> None:
    from indexes.queries.index import Index

    try:
        index = Index.open(source, cache, progress=tell)
    except SourceError as error:
        tell.write({"error": str(error)})
    else:
        tell.write(asdict(index.report))


class _Telling:
    """Writes down how far the work is, not more often than anyone can read it."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _OFTEN
            self.write(asdict(progress))

    def write(self, told: dict[str, Any]) -> None:
        """Raises OSError when nobody reads any more."""
        self._out.write(json.dumps(told) + "\n")
        self._out.flush()


def _end_with(screen: int) -> None:
    """Stops this process in order when it is told to, and when the screen's is no more."""

    told = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

    def stop(*_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for each in told:  # what has begun to stop is not to be stopped in that
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    def look(*_: object) -> None:
        if os.getppid() != screen:
            stop()

    for each in told:
        signal.signal(each, stop)
    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK, _LOOK)
