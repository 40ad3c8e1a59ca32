"""Readers of trace formats: a file in, a ``Trace`` out. None of them imports torch.

A format is a module of this folder with the two functions of ``Format``, and its name below.
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
    """What a module of this folder offers."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the file may be of this format, by the first bytes of its content,
        whatever it is packed in; a folder by its path."""

    def read(self, path: Path, watch: Watch) -> Trace:
        """The trace. Raises BadTrace, in one line, for what is none."""


FORMATS: tuple[Format, ...] = (torch_trace, memory_snapshot, nsys, ncu, execution_trace, chrome)
"""The first that recognises a file reads it; the last takes all."""


def read_trace(
    path: Path,
    progress: Callable[[int], bool] | None = None,
    early: Callable[[Trace], None] | None = None,
) -> Trace:
    """Read a trace of any format that is known.

    Parameters:
        path: A file, or a folder with logs of ``TORCH_TRACE``.
        progress: Called with the number of rows so far; returns False to stop.
        early: Called once with the first rows of a Chrome trace that takes a while: a trace of
            its own, whose rows have the ids that they will have.

    Returns:
        The trace, with times in microseconds from its start. ``meta`` says what it lacks and
        what could not be read; a file that was cut is read up to the cut.

    Raises:
        BadTrace: The file is not a trace; the message is one line.
    """
    head = _head(path)
    reader = next(one for one in FORMATS if one.recognises(path, head))
    return reader.read(path, Watch(progress, early))


def _head(path: Path) -> bytes:
    try:
        return Content(path).head(_HEAD)
    except OSError:  # a folder, or nothing that can be read: the reader says so
        return b""
