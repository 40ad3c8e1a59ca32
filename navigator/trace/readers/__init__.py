"""Readers of trace formats: a file in, a ``Trace`` out. None of them imports torch."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from navigator.trace.trace import Trace

_HEAD = 4096
_EXECUTION_TRACE = re.compile(rb'\{\s*"schema"\s*:\s*"1\.')


def read_trace(
    path: Path,
    progress: Callable[[int], bool] | None = None,
    early: Callable[[Trace], None] | None = None,
) -> Trace:
    """Read a trace of any format that is known. Raises BadTrace, in one line, for others.

    ``progress`` is called with the number of rows so far and returns False to stop. ``early``
    is called once with the first rows of a Chrome trace that takes a while: a trace of its own,
    whose rows have the ids that they will have.
    """
    head = _head(path)
    if path.is_dir() or path.suffix == ".log":
        from navigator.trace.readers.torch_trace import read_torch_trace

        return read_torch_trace(path)
    if head.startswith(b"\x80"):
        from navigator.trace.readers.memory_snapshot import read_memory_snapshot

        return read_memory_snapshot(path)
    if _EXECUTION_TRACE.match(head.lstrip()):
        from navigator.trace.readers.execution_trace import read_execution_trace

        return read_execution_trace(path)
    from navigator.trace.readers.chrome import read_chrome

    return read_chrome(path, progress, early)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:  # a folder, or nothing that can be read: the reader says so
        return b""
