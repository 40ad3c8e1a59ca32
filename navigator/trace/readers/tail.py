"""The tail of a recording that did not end well: what was running, and rows that were not written.

``navigator/capture/writer.py`` makes it; ``docs/trace-format.md`` describes it. It is a file of
another process, so that nothing in it is believed before it is checked.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

from indexes.source.files import open_file, read_file
from navigator.trace.readers.operator_columns import OperatorRow

SUFFIX = ".tail"
_MAGIC = b"navtail1"
_HEADER = struct.Struct("=8s12q")
_SLOT, _OPEN, _ROW = struct.Struct("=5q"), struct.Struct("=qii"), struct.Struct("=qqqqiii4x")


class RunningRow(NamedTuple):
    """An operator that had not ended. Times in ns from the base of the recording."""

    start: int
    kind: int
    """As in ``torchnav_ops``, and the next."""
    at: int


class TailThread(NamedTuple):
    """One thread."""

    number: int
    """The operating system's."""
    written: int
    """Rows that it had made, the last of which are here."""
    rows: list[OperatorRow]
    """Of kind 0 is memory: bytes for the duration, then the address, what the allocator holds, and
    for the output its device, see ``recorder.cpp``."""
    running: list[RunningRow]
    """Outermost first."""


class Tail(NamedTuple):
    """What a tail holds."""

    lines: bytes
    """Events of the recording, each followed by a comma; some may be in the recording too."""
    threads: list[TailThread]
    stopped: bool
    """Whether the recording had ended before the program did."""


def read_tail(recording: Path) -> Tail | None:
    """The tail beside a recording; None where there is none that can be read."""
    try:
        data = read_file(recording.with_name(recording.name + SUFFIX))
        return _parsed(data)
    except (OSError, struct.error, ValueError):
        return None


def is_being_written(recording: Path) -> bool:
    """Whether the process that records still runs: it holds its file locked."""
    try:
        import fcntl

        with open_file(recording, None) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        pass
    return False


def _parsed(data: bytes) -> Tail | None:
    magic, slots, at, slot_size, depth, row_size, text_at, capacity, *rest = _HEADER.unpack_from(
        data
    )
    if magic != _MAGIC or row_size != _ROW.size or slot_size < _SLOT.size + depth * _OPEN.size:
        return None
    first, second, current, _lost, stopped = rest
    parts = [(0, first), (1, second)] if current else [(1, second), (0, first)]
    starts = [(text_at + part * capacity, size) for part, size in parts]
    lines = b"".join(data[start : start + min(size, capacity)] for start, size in starts)
    found = (_thread(data, at + slot * slot_size, depth) for slot in range(slots))
    return Tail(lines, [one for one in found if one.number], bool(stopped))


def _thread(data: bytes, at: int, depth: int) -> TailThread:
    number, running, written, rows_at, capacity = _SLOT.unpack_from(data, at)
    count = min(max(running, 0), depth)
    inside = data[at + _SLOT.size :][: depth * _OPEN.size]
    rows = [RunningRow(*one) for one in _OPEN.iter_unpack(inside)]
    return TailThread(number, written, _ring(data, rows_at, capacity, written), rows[:count])


def _ring(data: bytes, at: int, capacity: int, written: int) -> list[OperatorRow]:
    """The last rows, in the order in which they were made."""
    if capacity <= 0:
        return []
    ring = data[at : at + min(written, capacity) * _ROW.size]
    rows = [OperatorRow(*one) for one in _ROW.iter_unpack(ring)]
    first = written % capacity if written > capacity else 0
    return rows[first:] + rows[:first]
