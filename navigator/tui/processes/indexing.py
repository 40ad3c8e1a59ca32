"""Refreshes the index in a separate process, since a thread would block the keys."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import ClassVar

from indexes.build.workers import start_workers, stoppable
from indexes.model.errors import Progress, Report
from indexes.model.files import Roots
from indexes.model.vocabulary import SourceKind
from indexes.source.source import Source

_PAUSE = 0.05
"""Seconds between progress reports, and between checks for cancellation."""


def refresh_index(
    source: Source,
    cache: Path | None,
    progress: Callable[[Progress], None],
    cancelled: Callable[[], bool],
) -> Report:
    """Refreshes the index of ``source`` in a separate process. Call in a thread.

    Raises
    ------
    SourceError, Cancelled
        As ``Index.open`` does.
    OSError, BrokenExecutor
        When the process cannot start, or was killed.
    """
    ours, theirs = Pipe(duplex=False)
    with ours, theirs, start_workers(1, _begin, theirs) as worker:
        work = worker.submit(_refresh, source.top, source.kind, source.roots, cache)
        theirs.close()
        with suppress(EOFError, ProcessLookupError):  # it was killed
            process = ours.recv()
            while not work.done() and not cancelled():
                if ours.poll(_PAUSE):
                    progress(ours.recv())
            if not work.done():
                os.kill(process, signal.SIGTERM)
        return work.result()


# ------------------------------------------------------------------------- in the process


def _begin(screen: Connection) -> None:
    _Reporter.screen = screen
    with suppress(AttributeError, OSError):
        os.nice(5)  # the screen comes first


def _refresh(top: str, kind: SourceKind, roots: Roots, cache: Path | None) -> Report:
    with stoppable():
        from indexes.queries.index import Index

        _Reporter.screen.send(os.getpid())
        return Index.open(Source(top, kind, roots), cache, progress=_Reporter()).report


class _Reporter:
    """Reports progress to the screen at a readable rate."""

    screen: ClassVar[Connection]
    _next = 0.0

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _PAUSE
            with suppress(OSError):  # the screen has ended
                self.screen.send(progress)
