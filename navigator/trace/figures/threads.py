"""What a thread was in at each moment: the innermost row, or a call of the device's runtime."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from navigator.trace.table import GONE, NONE
from navigator.trace.trace import Trace


class Piece(NamedTuple):
    """Time that a thread spent in a row itself, not in what it called; or in nothing."""

    start: float
    end: float
    row: int
    """NONE where it was in none."""
    launch: int = NONE
    """The call of the runtime that it was in."""


class Threads:
    """The pieces of each thread, by time. Times as the trace's columns have them."""

    def __init__(self, trace: Trace) -> None:
        items: dict[int, list[Piece]] = {}
        for thread, item in _items(trace):
            items.setdefault(thread, []).append(item)
        pieces = {thread: list(_pieces(found)) for thread, found in items.items()}
        self._pieces = {thread: found for thread, found in pieces.items() if found}
        self._starts = {n: [one.start for one in found] for n, found in self._pieces.items()}

    def __iter__(self) -> Iterator[int]:
        return iter(self._pieces)

    def first(self, thread: int) -> float:
        """When it was first in anything."""
        return self._pieces[thread][0].start

    def before(self, thread: int, moment: float) -> Piece | None:
        """The last time of one kind before a moment, cut there; None before everything. Where
        the thread was in no row, the time since the last one."""
        number = bisect_left(self._starts.get(thread, ()), moment) - 1
        if number < 0:
            return None
        piece = self._pieces[thread][number]
        if piece.end < moment:
            return Piece(piece.end, moment, NONE)
        return piece._replace(end=moment)

    def within(self, thread: int, start: float, end: float) -> Iterator[Piece]:
        """What it was in between two moments, from the end on."""
        while end > start:
            piece = self.before(thread, end)
            if piece is None:
                yield Piece(start, end, NONE)
                return
            yield piece._replace(start=max(piece.start, start))
            end = piece.start


class DeviceWaits:
    """The calls of the runtime that come back only when the device is done: those that synchronise
    by their name, and copies that are not asynchronous, or that have ended with their call, as
    those of memory that can be paged out do whatever they are called."""

    def __init__(self, trace: Trace) -> None:
        self._launches, kernels = trace.table.launches, trace.table.kernels
        self._done = {
            correlation: start + duration
            for correlation, start, duration in zip(
                kernels.correlation, kernels.start, kernels.duration, strict=True
            )
        }

    def __contains__(self, launch: int) -> bool:
        """Whether a call, by its number, is one."""
        launches = self._launches
        name = launches.names[launches.name[launch]]
        if "Memcpy" not in name:
            return "Synchronize" in name
        end = launches.start[launch] + launches.duration[launch]
        return "Async" not in name or self._done.get(launches.correlation[launch], end + 1) <= end


def _items(trace: Trace) -> Iterator[tuple[int, Piece]]:
    """Rows and calls of the runtime, with their threads."""
    table, launches = trace.table, trace.table.launches
    for row in range(len(table)):
        if table.kind[row] != GONE:
            start = table.start[row]
            yield table.thread[row], Piece(start, start + table.duration[row], row)
    for number in range(len(launches)):
        start = launches.start[number]
        piece = Piece(start, start + launches.duration[number], launches.op[number], number)
        yield launches.thread[number], piece


def _pieces(items: Iterable[Piece]) -> Iterator[Piece]:
    open_: list[Piece] = []
    at = float("-inf")
    for item in sorted(items, key=lambda one: (one.start, -one.end)):
        yield from _closed(open_, at, item.start)
        at = item.start
        open_.append(item._replace(end=min(item.end, open_[-1].end)) if open_ else item)
    yield from _closed(open_, at, float("inf"))


def _closed(open_: list[Piece], at: float, until: float) -> Iterator[Piece]:
    """Own time of what is open from one moment to another; what ends meanwhile is closed."""
    while open_ and at < until:
        inner = open_[-1]
        end = min(inner.end, until)
        if end > at:
            yield inner._replace(start=at, end=end)
            at = end
        if inner.end > until:
            return
        open_.pop()
