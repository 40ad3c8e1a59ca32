"""The trace file: a Chrome trace in its array form, one event a line, only appended to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from threading import Lock
from typing import Any


class TraceFile:
    """Appends events. Every ``write`` reaches the operating system before it returns.

    The array is never closed: the format allows that, and a program that is killed
    leaves a file that ends in whole lines.
    """

    def __init__(self, path: str) -> None:
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115 - closed by close()
        self._lock = Lock()
        self._owner = os.getpid()
        self.error: OSError | None = None
        """Why nothing is written any more: a full disk must not stop the program."""
        self._append(b"[\n")

    def write(self, lines: Iterable[bytes]) -> None:
        """Append events, each one JSON object. A no-op in a forked child and after ``close``."""
        text = b",\n".join(lines)
        if not text or os.getpid() != self._owner:
            return
        with self._lock:
            if not self._file.closed and self.error is None:
                self._append(text + b",\n")

    def _append(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            self.error = error

    def close(self) -> None:
        with self._lock:
            self._file.close()


def metadata(name: str, args: dict[str, Any], pid: int, tid: int = 0) -> bytes:
    """A metadata event of ours; viewers of Chrome traces ignore names they do not know."""
    return encode({"ph": "M", "name": f"torchnav_{name}", "pid": pid, "tid": tid, "args": args})


def encode(event: dict[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":"), default=repr).encode()
