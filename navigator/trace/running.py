"""A program that runs beside us on a terminal of its own: what it prints, what it is told."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence


class RunningProgram:
    """Started at once. ``read`` blocks, so it belongs in a thread."""

    def __init__(self, command: Sequence[str], columns: int = 80, rows: int = 24) -> None:
        self._terminal, theirs = _terminal(columns, rows)
        try:
            self._process = subprocess.Popen(
                command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
            )
        finally:
            os.close(theirs)

    def read(self) -> bytes:
        """What it printed since; empty when it has ended and all of it was read."""
        try:
            return os.read(self._terminal, 65536)
        except OSError:  # its end of the terminal is closed
            return b""

    def type(self, text: str) -> None:
        """Give it a line on its stdin."""
        with contextlib.suppress(OSError):
            os.write(self._terminal, text.encode())

    def interrupt(self) -> None:
        """As ctrl+c in a terminal."""
        self._signal(signal.SIGINT)

    def stop(self) -> None:
        """End it so that it can still write its trace."""
        self._signal(signal.SIGTERM)

    def wait(self) -> int:
        """Its exit status, negative for a signal."""
        return self._process.wait()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def _signal(self, number: int) -> None:
        if self.is_running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)


def _terminal(columns: int, rows: int) -> tuple[int, int]:
    """Our end and the program's end of a new terminal of this size."""
    if sys.platform == "win32":
        raise OSError("there are no pseudo-terminals on Windows: record with -o FILE")
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return ours, theirs
