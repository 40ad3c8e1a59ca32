"""Runs a program in a terminal and records what it painted, and when."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import BinaryIO

import pyte

COLUMNS, LINES = 120, 40
_QUIET = 0.15
"""Seconds without output after which a screen has settled."""


class Terminal:
    """A program on a pseudo-terminal of 120 columns and 40 lines, and its screen."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: str,
        environment: Mapping[str, str],
        answers: float = 30.0,
    ) -> None:
        self.screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self.screen)
        self.patience = answers
        self.started = time.perf_counter()
        self._process, self._master = pty.fork()
        if not self._process:
            os.chdir(cwd)
            settings = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
            os.execvpe(command[0], list(command), {**environment, **settings})
        size = struct.pack("HHHH", LINES, COLUMNS, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        self._reader, self._came = _read_beside(self._master)

    def press(self, keys: str) -> float:
        """Sends keys; returns the time."""
        now = time.perf_counter()
        os.write(self._master, keys.encode())
        return now

    def until(self, painted: Callable[[], bool]) -> float:
        """Reads until ``painted`` is true of the screen; returns the time of the deciding bytes.

        Raises TimeoutError with the screen if that takes too long.
        """
        deadline = time.perf_counter() + self.patience
        while time.perf_counter() < deadline:
            if self._read(0.05) and painted():
                return self._last
        raise TimeoutError("\n".join(self.screen.display))

    def cpu(self) -> float:
        """CPU seconds used by the program; 0 if unknown."""
        try:
            with open(f"/proc/{self._process}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settle(self) -> None:
        """Reads until there has been no output for a while."""
        while self._read(_QUIET):
            pass

    _last = 0.0

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._came], [], [], seconds)
        if not ready:
            return False
        head = self._came.read(_HEAD.size)
        if not head:
            raise EOFError("\n".join(self.screen.display))
        self._last, size = _HEAD.unpack(head)
        self._stream.feed(self._came.read(size))
        return True

    def rows(self, first: int, last: int) -> list[str]:
        """The text between two columns, line by line."""
        return [line[first:last] for line in self.screen.display]

    def inks(self, first: int, last: int) -> int:
        """The number of text colours between two columns."""
        cells = (self.screen.buffer[y][x] for y in range(LINES) for x in range(first, last))
        return len({cell.fg for cell in cells if cell.data.strip()})

    def close(self) -> None:
        """Ends the program."""
        for process in (self._process, self._reader):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        os.close(self._master)
        self._came.close()


_HEAD = struct.Struct("dI")
"""The time of bytes, and their number."""
_PIPE_BYTES = 1 << 20


def _read_beside(master: int) -> tuple[int, BinaryIO]:
    """A process that reads the output, with times, and passes it on: parsing a screen takes 20 ms
    here, which would delay the next read."""
    out, into = os.pipe()
    fcntl.fcntl(into, getattr(fcntl, "F_SETPIPE_SZ", fcntl.F_GETFD), _PIPE_BYTES)
    process = os.fork()
    if process:
        os.close(into)
        return process, os.fdopen(out, "rb", 0)
    with suppress(OSError):  # the program has ended
        while data := os.read(master, select.PIPE_BUF - _HEAD.size):
            os.write(into, _HEAD.pack(time.perf_counter(), len(data)) + data)
    os._exit(0)
