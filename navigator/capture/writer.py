"""Writes the trace file: a Chrome trace in array form, one event a line, only appended to.

Its tail is a second, memory-mapped file with the running and last calls, which survives whatever
ends the process and is removed after a normal end. See ``docs/trace-format.md``.
"""

from __future__ import annotations

import atexit
import json
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from threading import Lock
from time import time_ns
from typing import Any

from .names import open_free

TAIL = ".tail"
"""Suffix of the tail's file name."""
_KEPT_FREE = 16_000
"""Bytes of a limited file, at most a tenth, reserved for the end of the recording."""
_ROWS = re.compile(rb'"name":"torchnav_ops",[^{]*\{"count":(\d+),"kind":\[([\d,]*)\]')
_NAME = rb'"[A-Za-z_]\w*::(?:[^":\s]|:(?!:))*"'
"""Operator names, which readers tell from Nodes and regions: one namespace, no spaces."""
_EVENT = re.compile(rb'"cat": "cpu_op", "name": ' + _NAME)
_KIND = re.compile(
    rb'"name":"torchnav_kind",[^{]*\{"kind":(\d+),"name":' + _NAME + rb'(?!,"annotation")'
)


class TraceFile:
    """Appends events; each ``write`` reaches the operating system before it returns.

    The array is closed when the program ends; a killed program leaves whole lines, which the format
    allows. Methods never raise: a full disk must not stop the program. The program may close our
    descriptor and reuse its number. Two processes never share a file: see ``names.open_free``.
    """

    def __init__(self, path: str, since: float | None = None) -> None:
        self._descriptor, self.path = open_free(path, since)
        """The actual path, since another process may be writing to the requested one."""
        self._file, self._stderr = _identity(self._descriptor), _identity(2)
        self._lock = Lock()
        self._owner = os.getpid()
        self._closed = False
        self.operators = 0
        """Number of written operators."""
        self.rows = 0
        """As ``operators``, with Nodes, the engine's work, and regions."""
        self._kinds: set[bytes] = set()
        """Numbers of the kinds that are operators."""
        self.size = 0
        """Bytes written."""
        self.since_ns = time_ns()
        self.spent_ns = 0
        """Time spent on writing, added by the callers."""
        self.limit = 0
        """Maximum size in bytes; 0 for no limit."""
        self.full = False
        """Whether events were dropped because of the limit."""
        self.problem = ""
        """Why writing has stopped."""
        self._append(b"[\n")
        atexit.register(self.close)

    def write(self, lines: Iterable[bytes]) -> None:
        """Append events, each one JSON object. A no-op in a forked child and after ``close``."""
        text = b",\n".join(lines) + b",\n"
        room = self.limit - min(_KEPT_FREE, self.limit // 10) - self.size
        if self.limit and (self.full or len(text) > room):
            self.full = True
            text = b"".join(text[: max(room, 0)].rpartition(b",\n")[:2])
        self._put(text)

    def write_unlimited(self, lines: Iterable[bytes]) -> None:
        """As ``write``, for the few events that the size limit does not apply to."""
        self._put(b",\n".join(lines) + b",\n")

    def _put(self, text: bytes) -> None:
        if len(text) > 2 and os.getpid() == self._owner:
            with self._lock:
                if not self._closed and not self.problem:
                    self._append(text)

    def fail(self, error: OSError) -> None:
        """Stop writing, and record the reason in the trace if possible."""
        reason = error.strerror or str(error)
        message = {"message": f"recording stopped: {reason}"}
        self.write_unlimited([metadata("problem", message, self._owner)])
        self.problem = self.problem or reason

    def close(self) -> None:
        """End the array, so that the file is valid JSON. Does nothing the second time."""
        with self._lock:
            if not self._closed and _identity(self._descriptor) == self._file:
                if not self.problem and os.getpid() == self._owner:
                    self._append(metadata("closed", {}, self._owner) + b"\n]\n")
                os.close(self._descriptor)
            self._closed = True
            atexit.unregister(self.close)

    def remove(self) -> None:
        """Delete the file: it has nothing of interest."""
        with suppress(OSError):
            os.unlink(self.path)

    def report(self) -> None:
        """Print one line on stderr if not everything was recorded; only once."""
        if self.problem:
            count = f"{self.operators} operator{'s' * (self.operators != 1)}"
            self.say(f"recording stopped: {self.problem}; the trace ends after {count}")
            self.problem = ""

    def say(self, words: str) -> None:
        """Print one line on the program's stderr, unless it was replaced."""
        if os.getpid() == self._owner and _identity(2) == self._stderr:
            with suppress(OSError):
                os.write(2, f"torchnav: {words}\n".encode())

    def _append(self, data: bytes) -> None:
        done = 0
        try:
            if _identity(self._descriptor) != self._file:
                raise OSError("the program closed the trace file")
            while done < len(data):
                done += os.write(self._descriptor, memoryview(data)[done:])
        except OSError as error:
            self.problem = error.strerror or str(error)
        whole = data.rfind(b"\n", 0, done) + 1  # readers never see partial lines
        self.size += done
        self._count(data, whole)

    def _count(self, data: bytes, whole: int) -> None:
        self._kinds.update(found[1] for found in _KIND.finditer(data, 0, whole))
        self.rows += data.count(b'"cpu_op"', 0, whole)
        self.operators += sum(1 for _ in _EVENT.finditer(data, 0, whole))
        for found in _ROWS.finditer(data, 0, whole):
            self.rows += int(found[1])
            self.operators += sum(map(self._kinds.__contains__, found[2].split(b",")))


def _identity(descriptor: int) -> tuple[int, int] | None:
    """The device and number of an open file; None when the descriptor is closed."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def metadata(name: str, args: dict[str, Any], pid: int, tid: int = 0) -> bytes:
    """A metadata event of torchnav; viewers of Chrome traces ignore unknown names."""
    return encode({"ph": "M", "name": f"torchnav_{name}", "pid": pid, "tid": tid, "args": args})


def encode(event: dict[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":"), default=repr).encode()


def steps(values: Sequence[int]) -> list[int]:
    """The first value, then differences to the previous one."""
    return [one - before for one, before in zip(values, [0, *values], strict=False)]


def open_tail(recording: str, size: int) -> int:
    """Create a file of ``size`` allocated bytes beside a recording: writing to a mapped file on a
    full disk would kill the program. Returns its descriptor, or -1."""
    remove_tail(recording)  # not truncated: another process may have it mapped
    descriptor = -1
    try:
        descriptor = os.open(recording + TAIL, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        os.posix_fallocate(descriptor, 0, size)
    except (OSError, AttributeError):
        if descriptor >= 0:
            os.close(descriptor)
            remove_tail(recording)
        return -1
    return descriptor


def remove_tail(recording: str) -> None:
    """Called when the recording is complete, or starts again."""
    with suppress(OSError):
        os.unlink(recording + TAIL)
