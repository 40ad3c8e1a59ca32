"""Readers of trace formats: a file in, a ``Trace`` out. None of them imports torch.

A format is a module in this folder with the functions of ``Format``; its name is listed below.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from navigator.trace.readers import chrome, execution_trace, memory_snapshot, ncu, nsys, torch_trace
from navigator.trace.readers.packed import Content
from navigator.trace.trace import Trace, Watch

_HEAD = 4096


class Format(Protocol):
    """The functions of a format's module."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the file may have this format, by its first unpacked bytes or path."""

    def read(self, path: Path, watch: Watch) -> Trace:
        """The trace. Raises a one-line BadTrace for another file."""


FORMATS: tuple[Format, ...] = (torch_trace, memory_snapshot, nsys, ncu, execution_trace, chrome)
"""The first one that recognises a file reads it; the last one accepts any file."""


def read_trace(
    path: Path,
    progress: Callable[[int], bool] | None = None,
    early: Callable[[Trace], None] | None = None,
) -> Trace:
    """Read a trace of any supported format.

    Parameters:
        path: A file, or a folder with ``TORCH_TRACE`` logs.
        progress: Called with the number of rows so far; returns False to stop.
        early: Called once with the first rows of a large Chrome trace, as a trace with final ids.

    Returns:
        The trace, with times in microseconds from its start. ``meta`` says what is missing or could
            not be read; a truncated file is read as far as possible.

    Raises:
        BadTrace: The file is not a trace; the message is one line.
    """
    head = _head(path)
    reader = next(one for one in FORMATS if one.recognises(path, head))
    return reader.read(path, Watch(progress, early))


def _head(path: Path) -> bytes:
    try:
        return Content(path).head(_HEAD)
    except OSError:  # a folder or unreadable: the reader reports it
        return b""
