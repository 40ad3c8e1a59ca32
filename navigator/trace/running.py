"""Runs a program on a pseudo-terminal: reads its output and types its input."""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue

from indexes.source.files import read_text

_READ = {"x86_64": "0", "aarch64": "63", "riscv64": "63", "ppc64le": "3", "s390x": "3"}
"""Linux's system call number of ``read``, by machine."""
_END_OF_FILE = "\x04"
"""The end-of-input character, unless the program has changed it."""


class RunningProgram:
    """Starts immediately. ``read`` blocks, so call it in a thread."""

    def __init__(self, command: Sequence[str], columns: int = 80, rows: int = 24) -> None:
        self._terminal, theirs = _terminal(columns, rows)
        self._name = os.ttyname(theirs)
        self._typed: SimpleQueue[str | None] = SimpleQueue()
        try:
            self._process = subprocess.Popen(
                command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
            )
        finally:
            os.close(theirs)
        threading.Thread(target=self._type, daemon=True).start()

    def read(self) -> bytes:
        """Output since the last call; empty after the end."""
        try:
            return os.read(self._terminal, 65536)
        except OSError:  # the program closed its end
            self._typed.put(None)
            return b""

    def type(self, text: str) -> None:
        """Type text on its terminal; a line ends in ``\r``, as with the enter key. Does not wait
        for the program to read it."""
        self._typed.put(text)

    def end_input(self) -> None:
        """As ctrl+d in a terminal: the program reads the end of its input."""
        self._typed.put(_END_OF_FILE)

    def _type(self) -> None:
        """In a thread, since a terminal's buffer is limited."""
        while (text := self._typed.get()) is not None:
            rest = text.encode()
            with contextlib.suppress(OSError):
                while rest:
                    rest = rest[os.write(self._terminal, rest) :]
        ours, self._terminal = self._terminal, -1
        os.close(ours)

    @property
    def is_reading(self) -> bool | None:
        """Whether it waits for input; None if the system does not say."""
        if self._reads_keys():
            return True
        number = _READ.get(platform.machine())
        if number is None or not Path("/proc/self/syscall").exists():
            return None
        return any(self._waits_in_read(process, number) for process in _family(self._process.pid))

    @property
    def hides_input(self) -> bool:
        """Whether the terminal hides typed text, as for a password."""
        import termios

        return not self._modes() & termios.ECHO and bool(self._modes() & termios.ICANON)

    def _reads_keys(self) -> bool:
        """Whether it reads single keys, as line editors do."""
        import termios

        return self.is_running and not self._modes() & termios.ICANON

    def _modes(self) -> int:
        import termios

        try:
            return int(termios.tcgetattr(self._terminal)[3])
        except (termios.error, ValueError):  # one of the ends is closed
            return termios.ECHO | termios.ICANON

    def _waits_in_read(self, process: int, number: str) -> bool:
        """Whether a thread of a process is in ``read`` on the terminal."""
        for thread in _names(f"/proc/{process}/task"):
            call, _, rest = _text(f"/proc/{process}/task/{thread}/syscall").partition(" ")
            if call == number:
                descriptor = int(rest.split()[0], 16)
                with contextlib.suppress(OSError):
                    if os.readlink(f"/proc/{process}/fd/{descriptor}") in (self._name, "/dev/tty"):
                        return True
        return False

    def interrupt(self) -> None:
        """As ctrl+c in a terminal."""
        self._signal(signal.SIGINT)

    def stop(self) -> None:
        """Terminate it so that it can still write its trace."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it."""
        self._signal(signal.SIGKILL)

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


def _family(process: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield process
    for thread in _names(f"/proc/{process}/task"):
        for child in _text(f"/proc/{process}/task/{thread}/children").split():
            yield from _family(int(child))


def _names(folder: str) -> list[str]:
    """Names in a folder of ``/proc``; none once its process has ended."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _text(file: str) -> str:
    try:
        return read_text(file)
    except OSError:
        return ""


def _terminal(columns: int, rows: int) -> tuple[int, int]:
    """Our end and the program's end of a new terminal with this size."""
    if sys.platform == "win32":
        raise OSError("there are no pseudo-terminals on Windows: record with -o FILE")
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return ours, theirs
