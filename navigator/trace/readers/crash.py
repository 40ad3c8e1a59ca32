"""Recovers the last rows of a recording that did not end normally from its tail."""

from __future__ import annotations

import os
import struct
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from indexes.model.vocabulary import Location
from indexes.source.files import open_file, read_file
from navigator.trace.columns import NONE
from navigator.trace.model import TraceMeta
from navigator.trace.readers.events import device_place
from navigator.trace.readers.operator_columns import OperatorRow
from navigator.trace.readers.own import OwnEvents
from navigator.trace.table import Table

_MEMORY, _VERSION = 0, -1
_INDEXES = 256
"""A device in a tail is encoded as its type times this, plus its index, plus one."""


class Crash:
    """Adds the tail of a recording, after the tail's events have been read.

    ``threads``: the operating system's id -> number in the table.
    """

    def __init__(
        self, meta: TraceMeta, table: Table, own: OwnEvents, threads: Callable[[int], int]
    ) -> None:
        self._meta = meta
        self._table = table
        self._own_events = own
        self._threads = threads
        self._missing = 0

    def take_in(self, tail: Tail) -> None:
        """Add rows for what had ended and for what was running, and note where the program died."""
        for thread in tail.threads:
            self._add_ended(thread)
        last = self._last_moment(tail)
        running: defaultdict[int, list[int]] = defaultdict(list)
        for one in tail.threads:
            for row in self._add_running(one, last):
                running[one.number].append(row)
        self._table.unfinished.update(row for rows in running.values() for row in rows)
        self._meta.problems.insert(0, self._end([*running.values()], tail))
        if self._missing:
            what = f"{self._missing:,} of the last operators or calls are missing"
            self._meta.problems.insert(1, what)

    def _add_ended(self, thread: TailThread) -> None:
        """Adds rows that are not in the file."""
        number = self._threads(thread.number)
        if self._own_events.is_compiled:
            count = max(thread.written - self._own_events.operators.written[number], 0)
            rows = thread.rows[-count:] if count else []
        else:
            rows = [row for row in thread.rows if self._own_events.lacks(row)]
            count = len(rows) + self._overwritten(thread, rows)
        self._missing += count - len(rows)
        for row in rows:
            self._missing += not self._add(row, number)

    def _overwritten(self, thread: TailThread, rows: list[OperatorRow]) -> int:
        """Maximum number of calls missing from both the file and the ring."""
        if not rows or len(rows) < len(thread.rows):
            return 0
        before = rows[0].sequence - 1 - self._own_events.last_call
        return max(min(thread.written - len(rows), before), 0)

    def _add(self, row: OperatorRow, thread: int) -> bool:
        """Whether the row's kind is known."""
        try:
            if row.kind == _VERSION:
                self._own_events.operators.add_version(row.start, row.duration, row.sequence)
            elif row.kind == _MEMORY:
                place = device_place(row.output // _INDEXES, row.output % _INDEXES - 1)
                self._own_events.operators.add_memory(
                    row.start, row.duration, place, row.sequence, row.forward, thread
                )
            else:
                self._own_events.add_ended(row, thread)
        except (KeyError, ValueError, OverflowError):
            return False
        return True

    def _last_moment(self, tail: Tail) -> int:
        """Just after everything known, in nanoseconds from the base."""
        starts = [row.start for thread in tail.threads for row in thread.running]
        ends = map(sum, zip(self._table.start, self._table.duration, strict=True))
        return max([*starts, int(max(ends, default=0) * 1000)]) + 1

    def _add_running(self, thread: TailThread, last: int) -> list[int]:
        """The rows of what had not ended, outermost first."""
        number = self._threads(thread.number)
        ended = {(row.start, row.kind) for row in thread.rows[-len(thread.running) - 1 :]}
        opened = (one for one in thread.running if (one.start, one.kind) not in ended)
        rows = [self._add_open(one, number, last) for one in opened]
        return [row for row in rows if row >= 0]

    def _add_open(self, one: RunningRow, thread: int, last: int) -> int:
        row = OperatorRow(one.start, last - one.start, NONE, 0, one.kind, 0, one.at)
        try:
            return self._own_events.operators.add_operator(row, thread)
        except (KeyError, OverflowError):
            return NONE

    # ------------------------------------------------------------------------- in words

    def _end(self, running: list[list[int]], tail: Tail) -> str:
        """``died in aten::mm, train.py:12``"""
        start = self._table.start.__getitem__
        if tail.stopped:
            return "the program died after the recording had ended"
        if running:
            ways = [sorted(rows, key=start) for rows in running]
            places = [f"{self._label(rows[-1])}, {self._line(rows)}" for rows in ways]
            return "died in " + "; another thread was in ".join(places)
        last = self._last_row()
        return f"died outside of any operator, after {last}" if last else "died before any operator"

    def _last_row(self) -> str:
        """The last operator to end among those that the program called directly."""
        table = self._table
        ends = (
            (table.start[row] + table.duration[row], row)
            for row in range(len(table))
            if table.stack[row] >= 0
        )
        _, row = max(ends, default=(0.0, NONE))
        return f"{self._label(row)}, {self._line([row])}" if row >= 0 else ""

    def _label(self, row: int) -> str:
        return self._table.label(self._table.name[row])

    def _line(self, rows: list[int]) -> str:
        """The user's line of the innermost row that has one."""
        stacks = (self._table.stack[row] for row in reversed(rows))
        places = (self._table.stacks[stack].location for stack in stacks if stack >= 0)
        return self._short(next((place for place in places if place is not None), None))

    def _short(self, place: Location | None) -> str:
        """Relative to the run's folder, if inside it."""
        if place is None:
            return "user line not recorded"
        path = os.path.relpath(place.path, self._meta.cwd or os.sep)
        return f"{place.path if path.startswith(os.pardir) else path}:{place.line}"


SUFFIX = ".tail"
_MAGIC = b"navtail1"
_HEADER = struct.Struct("=8s12q")
_SLOT, _OPEN, _ROW = struct.Struct("=5q"), struct.Struct("=qii"), struct.Struct("=qqqqiii4x")


class RunningRow(NamedTuple):
    """An operator that had not ended. Times in ns from the base of the recording."""

    start: int
    kind: int
    """As in ``torchnav_ops``, like the next field."""
    at: int


class TailThread(NamedTuple):
    """One thread."""

    number: int
    """The operating system's id."""
    written: int
    """Number of its rows, of which the last are in the tail."""
    rows: list[OperatorRow]
    """Rows of kind 0 are memory events: the duration is in bytes, then follow the address, the
    allocator's total, and the device in place of the output; see ``recorder.cpp``."""
    running: list[RunningRow]
    """Outermost first."""


class Tail(NamedTuple):
    """The contents of a tail."""

    lines: bytes
    """Events of the recording, each followed by a comma; the recording may contain some too."""
    threads: list[TailThread]
    stopped: bool
    """Whether the recording had ended before the program did."""


def read_tail(recording: Path) -> Tail | None:
    """The tail of a recording; None if there is no readable one."""
    try:
        data = read_file(recording.with_name(recording.name + SUFFIX))
        return _parsed(data)
    except (OSError, struct.error, ValueError):
        return None


def is_being_written(recording: Path) -> bool:
    """Whether the recording process still runs: it locks the file."""
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
    """The last rows, in order of creation."""
    if capacity <= 0:
        return []
    ring = data[at : at + min(written, capacity) * _ROW.size]
    rows = [OperatorRow(*one) for one in _ROW.iter_unpack(ring)]
    first = written % capacity if written > capacity else 0
    return rows[first:] + rows[:first]
