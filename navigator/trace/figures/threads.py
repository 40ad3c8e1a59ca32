"""What a thread was doing at each moment: the innermost row, or a call of the device runtime."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from indexes.model.lines import grouped
from navigator.trace.columns import NONE
from navigator.trace.table import GONE
from navigator.trace.trace import Trace


class Piece(NamedTuple):
    """Time that a thread spent in a row itself, not in what it called, or idle."""

    start: float
    end: float
    row: int
    """NONE outside of rows."""
    launch: int = NONE
    """The runtime call that it was in."""


class Threads:
    """The pieces of each thread, by time. Times as in the trace's columns."""

    def __init__(self, trace: Trace) -> None:
        self._launch_ops = trace.table.launches.op
        spans = grouped(_spans(trace))
        self._pieces: dict[int, _Pieces] = {}
        for thread in list(spans):
            pieces = _Pieces(spans.pop(thread))
            if pieces.ids:
                self._pieces[thread] = pieces

    def __iter__(self) -> Iterator[int]:
        return iter(self._pieces)

    def first(self, thread: int) -> float:
        """The start of the thread's first piece."""
        return self._pieces[thread].starts[0]

    def before(self, thread: int, moment: float) -> Piece | None:
        """The last piece before a moment, cut there; None before the first. Outside of rows, the
        time since the last row."""
        pieces = self._pieces.get(thread)
        number = bisect_left(pieces.starts, moment) - 1 if pieces else -1
        if pieces is None or number < 0:
            return None
        if pieces.ends[number] < moment:
            return Piece(pieces.ends[number], moment, NONE)
        one = pieces.ids[number]
        if one >= 0:
            return Piece(pieces.starts[number], moment, one)
        launch = _FIRST_LAUNCH - one
        return Piece(pieces.starts[number], moment, self._launch_ops[launch], launch)

    def within(self, thread: int, start: float, end: float) -> Iterator[Piece]:
        """The pieces between two moments, from the end backwards."""
        while end > start:
            piece = self.before(thread, end)
            if piece is None:
                yield Piece(start, end, NONE)
                return
            yield piece._replace(start=max(piece.start, start))
            end = piece.start


class DeviceWaits:
    """Runtime calls that return only when the device is done: synchronising calls by name, and
    copies that are synchronous by name or ended with their call, as copies of pageable memory
    do."""

    def __init__(self, trace: Trace) -> None:
        self._launches, kernels = trace.table.launches, trace.table.kernels
        self._done = {
            correlation: start + duration
            for correlation, start, duration in zip(
                kernels.correlation, kernels.start, kernels.duration, strict=True
            )
        }

    def __contains__(self, launch: int) -> bool:
        """Whether a call, by its number, waits."""
        launches = self._launches
        name = launches.names[launches.name[launch]]
        if "Memcpy" not in name:
            return "Synchronize" in name
        end = launches.start[launch] + launches.duration[launch]
        return "Async" not in name or self._done.get(launches.correlation[launch], end + 1) <= end


_Span = tuple[float, float, int]
"""(start, -end, row or ``_FIRST_LAUNCH`` - launch): outer spans sort first."""
_FIRST_LAUNCH = -2


def _spans(trace: Trace) -> Iterator[tuple[int, _Span]]:
    """Rows and runtime calls, with their threads."""
    table, launches = trace.table, trace.table.launches
    for row in range(len(table)):
        if table.kind[row] != GONE and row not in table.untimed:
            start = table.start[row]
            yield table.thread[row], (start, -start - table.duration[row], row)
    for number, (start, duration) in enumerate(zip(launches.start, launches.duration, strict=True)):
        yield launches.thread[number], (start, -start - duration, _FIRST_LAUNCH - number)


class _Pieces:
    """The pieces of one thread as columns."""

    def __init__(self, spans: list[_Span]) -> None:
        self.starts, self.ends, self.ids = array("d"), array("d"), array("q")
        open_: list[tuple[float, int]] = []
        at = float("-inf")
        spans.sort()
        for start, end, one in spans:
            self._close(open_, at, start)
            at = start
            open_.append((min(-end, open_[-1][0]) if open_ else -end, one))
        self._close(open_, at, float("inf"))

    def _close(self, open_: list[tuple[float, int]], at: float, until: float) -> None:
        """Adds the self time of open spans between two moments; closes those that end meanwhile."""
        while open_ and at < until:
            end, one = open_[-1]
            stop = min(end, until)
            if stop > at:
                self.starts.append(at)
                self.ends.append(stop)
                self.ids.append(one)
                at = stop
            if end > until:
                return
            open_.pop()
