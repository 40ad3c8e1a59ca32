"""The trace file: a Chrome trace in its array form, one event a line, only appended to.

Beside it stands its tail, a small file that outlives a crash: what was running, and what ran last.
It is mapped into memory, so that what is written there is kept whatever ends the process, and it is
removed when the recording ends well. ``docs/trace-format.md`` describes both.
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
"""What the name of the tail adds to that of the recording."""
_KEPT_FREE = 16_000
"""Bytes of a limited file, at most a tenth, that are kept for how the recording ends."""
_ROWS = re.compile(rb'"name":"torchnav_ops",[^{]*\{"count":(\d+),"kind":\[([\d,]*)\]')
_NAME = rb'"[A-Za-z_]\w*::(?:[^":\s]|:(?!:))*"'
"""Of an operator, as readers tell it from Nodes and regions: one namespace, no spaces."""
_EVENT = re.compile(rb'"cat": "cpu_op", "name": ' + _NAME)
_KIND = re.compile(
    rb'"name":"torchnav_kind",[^{]*\{"kind":(\d+),"name":' + _NAME + rb'(?!,"annotation")'
)


class TraceFile:
    """Appends events. Every ``write`` reaches the operating system before it returns.

    The array is closed when the program ends. The format does not ask for it: a program that
    is killed leaves a file that ends in whole lines. Nothing here fails: a full disk must not stop
    the program, which may also close our descriptor and use its number for a file of its own.
    Of two processes that name one file the second gets another one: see ``names.open_free``.
    """

    def __init__(self, path: str, since: float | None = None) -> None:
        self._descriptor, self.path = open_free(path, since)
        """Where it really is: another process may be writing to the path that was asked for."""
        self._file, self._stderr = _identity(self._descriptor), _identity(2)
        self._lock = Lock()
        self._owner = os.getpid()
        self._closed = False
        self.operators = 0
        """How many were written."""
        self.rows = 0
        """The same with Nodes, what the engine does around them, and regions."""
        self._kinds: set[bytes] = set()
        """Numbers of kinds in which operators stand."""
        self.size = 0
        """Bytes written."""
        self.since_ns = time_ns()
        self.spent_ns = 0
        """Time that went into writing, by who measures it."""
        self.limit = 0
        """How many bytes it has at most; 0 for no limit."""
        self.full = False
        """Whether something was left out because of the limit."""
        self.problem = ""
        """Why nothing is written any more."""
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
        """The same for the few that say what the file lacks: a limit does not hold for them."""
        self._put(b",\n".join(lines) + b",\n")

    def _put(self, text: bytes) -> None:
        if len(text) > 2 and os.getpid() == self._owner:
            with self._lock:
                if not self._closed and not self.problem:
                    self._append(text)

    def fail(self, error: OSError) -> None:
        """There is nothing more to write: say why in the trace, if that can still be written."""
        reason = error.strerror or str(error)
        message = {"message": f"recording stopped: {reason}"}
        self.write_unlimited([metadata("problem", message, self._owner)])
        self.problem = self.problem or reason

    def close(self) -> None:
        """End the array, so that the file is JSON. A no-op the second time."""
        with self._lock:
            if not self._closed and _identity(self._descriptor) == self._file:
                if not self.problem and os.getpid() == self._owner:
                    self._append(metadata("closed", {}, self._owner) + b"\n]\n")
                os.close(self._descriptor)
            self._closed = True
            atexit.unregister(self.close)

    def remove(self) -> None:
        """There is nothing in it that anybody wants."""
        with suppress(OSError):
            os.unlink(self.path)

    def report(self) -> None:
        """One line on the program's stderr if not all was recorded; only once."""
        if self.problem:
            count = f"{self.operators} operator{'s' * (self.operators != 1)}"
            self.say(f"recording stopped: {self.problem}; the trace ends after {count}")
            self.problem = ""

    def say(self, words: str) -> None:
        """One line on the program's stderr, if that is still what it was."""
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
        whole = data.rfind(b"\n", 0, done) + 1  # of a line that is cut no reader knows
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
    """A metadata event of ours; viewers of Chrome traces ignore names they do not know."""
    return encode({"ph": "M", "name": f"torchnav_{name}", "pid": pid, "tid": tid, "args": args})


def encode(event: dict[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":"), default=repr).encode()


def steps(values: Sequence[int]) -> list[int]:
    """Each but the first as what is to be added to the one before."""
    return [one - before for one, before in zip(values, [0, *values], strict=False)]


def open_tail(recording: str, size: int) -> int:
    """A new file of ``size`` bytes beside a recording, all of which are there: a mapped file that
    runs out of disk ends the program. Returns its descriptor, -1 where there can be none."""
    remove_tail(recording)  # never shortened: another process may have it mapped
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
    """The recording holds everything, or begins anew."""
    with suppress(OSError):
        os.unlink(recording + TAIL)
