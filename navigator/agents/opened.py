"""An index that is held open: opened beside the first question, brought up to date before each."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from threading import Lock

from indexes.model.errors import Progress, SourceError
from indexes.queries.index import Index
from navigator.cli.session import Settings

PATIENCE_S = 25.0
"""How long a question waits for an index that is being built."""


class OpenedIndex:
    """The index of the tree that the command line names. One question at a time asks it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._progress: Progress | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="index")
        self._opened: Future[Index] = self._pool.submit(self._open)

    def __enter__(self) -> Index:
        self._lock.acquire()
        try:
            return self._current()
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _current(self) -> Index:
        """The index as the tree is now.

        Raises:
            SourceError: There is no source, or the index is still being built.
        """
        if self._opened.done() and not self._opened.exception() and not self._is_current():
            self._opened.result().close()
            self._opened = self._pool.submit(self._open)
        try:
            return self._opened.result(PATIENCE_S)
        except StillRunning:
            raise SourceError(f"the index is being built{self._far()}: ask again") from None
        except SourceError:
            self._opened = self._pool.submit(self._open)  # there may be a source by then
            raise

    def _is_current(self) -> bool:
        return self._opened.result().is_current()

    def _far(self) -> str:
        now = self._progress
        return f", {now.stage} {now.done:,} of {now.total:,}" if now and now.total else ""

    def _open(self) -> Index:
        return Index.open(self._settings.source(), self._settings.cache, progress=self._note)

    def _note(self, progress: Progress) -> None:
        self._progress = progress
