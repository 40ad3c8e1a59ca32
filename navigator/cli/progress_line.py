"""How far a build is, on one line of stderr."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexes.model.errors import Progress


class ProgressLine:
    """One line on stderr that shows how far a build is; nothing where stderr is no terminal."""

    _WIDTH = 24
    _PAUSE = 0.1

    def __init__(self) -> None:
        self._shown = False
        self._next = 0.0
        self._live = sys.stderr.isatty()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if not self._live or now < self._next:
            return
        self._next = now + self._PAUSE
        self._shown = True
        sys.stderr.write(f"\r{self._bar(progress)}\x1b[K")
        sys.stderr.flush()

    def _bar(self, progress: Progress) -> str:
        if not progress.total:
            return f"{progress.stage} ... {progress.done or ''}".rstrip()
        part = min(1.0, progress.done / progress.total)
        filled = round(part * self._WIDTH)
        bar = "#" * filled + "-" * (self._WIDTH - filled)
        return f"{progress.stage} [{bar}] {progress.done:,}/{progress.total:,}"
