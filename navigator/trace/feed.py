"""Follows a trace that is still being recorded."""

from __future__ import annotations

from pathlib import Path

from indexes.source.files import open_file
from navigator.trace.readers.chrome import ChromeReader
from navigator.trace.readers.chunks import Surroundings
from navigator.trace.trace import Trace

_BLOCK = 8 << 20


class Feed:
    """Reads what has been appended to a recording since the last time.

    One thread calls ``read`` and ``finish``; others may look at ``trace`` meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0
        self._reader = ChromeReader(str(path))

    @property
    def trace(self) -> Trace:
        return self._reader.trace

    def read(self) -> bool:
        """Take in whole lines that are new, at most a few megabytes; whether there were any."""
        try:
            with open_file(self._path, None) as file:
                file.seek(self._at)
                data = file.read(_BLOCK)
        except FileNotFoundError:
            return False
        end = data.rfind(b"\n") + 1
        self._at += end
        lines = data[:end].strip().removeprefix(b"[").strip(b",\n ")
        if lines:
            self._reader.feed(b"[" + lines + b"]")
        return bool(lines)

    def finish(self) -> Trace:
        """The program has ended: read the rest and build what is left."""
        while self.read():
            pass
        return self._reader.finish(Surroundings())
