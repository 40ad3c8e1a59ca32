"""Where answers and words beside them are written, mended once at the start: the same bytes on a
terminal and in a pipe, and one line where a stream is closed or its disk is full."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from typing import TYPE_CHECKING

from indexes.model.errors import TorchnavError
from navigator.text.clean import clean, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indexes.model.progress import Progress


def mend_streams() -> None:
    """Opens what the caller has closed. A closed stdout refuses what is written, as it should; a
    closed stderr costs the words and not the answer."""
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:  # else the next file that is opened would get the number
            os.open(os.devnull, mode)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def write_json(value: object) -> None:
    """An answer, or a row of one, as a line of JSON. Raises TorchnavError as ``write_lines``."""
    from indexes.serialize.answers import dumps

    write_lines((dumps(value),))


def write_lines(lines: Iterable[str]) -> None:
    """Text for people. Raises TorchnavError when it can't be written."""
    for line in lines:
        with _told_if_refused():
            sys.stdout.write(printable(line) + "\n")


def end_answer() -> None:
    """Writes what is left of the answer. Raises TorchnavError when it can't be written."""
    with _told_if_refused():
        sys.stdout.flush()


@contextlib.contextmanager
def _told_if_refused() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Python flushes stdout once more as it ends; give it somewhere to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader has what it wanted
            raise
        raise TorchnavError(f"the answer can't be written: {error.strerror}") from error


def say(words: str) -> None:
    """Words beside the answer, on one line of stderr."""
    with contextlib.suppress(OSError):
        print(clean(words), file=sys.stderr)


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
