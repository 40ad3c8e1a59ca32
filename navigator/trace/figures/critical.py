"""The critical path: what would have to be shorter for the run to end earlier.

As in Holistic Trace Analysis (https://hta.readthedocs.io, "Lightweight Critical Path Analysis"): an
operator depends on the one before it in its thread, a kernel on its launch and on the kernel before
it in its stream, a synchronising call on the kernel that it waits for. The path is built from the
end of the run backwards, each time with the dependency that ended last. Its parts are contiguous,
so their sum is its length.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Literal, NamedTuple

from navigator.trace.columns import NONE
from navigator.trace.figures.spans import has_times
from navigator.trace.figures.threads import DeviceWaits, Piece, Threads
from navigator.trace.table import ANNOTATION, CALL, ENGINE, NODE
from navigator.trace.trace import Trace

Kind = Literal["operator", "call", "runtime", "program", "launch", "queue", "kernel", "wait"]
"""``operator``: its self time on the CPU. ``call``: Python in a call of torch or in a block.
``runtime``: a call of the device runtime. ``program``: a thread in none of these. ``launch``: from
a launch to the start of its kernel. ``queue``: from the end of a kernel to the start of the one
that waited for it. ``kernel``: device work. ``wait``: from the end of what a thread waited for
until the thread continued."""


class Part(NamedTuple):
    """A part of the path. Times as in the trace's columns, in microseconds."""

    start: float
    end: float
    kind: Kind
    name: str
    row: int
    """NONE outside of any."""
    kernel: int = NONE
    thread: int = NONE


def critical_path(trace: Trace) -> list[Part]:
    """The parts of the path by time; empty for a trace without times."""
    return list(path_backwards(trace))[::-1]


def path_backwards(trace: Trace) -> Iterator[Part]:
    """The path from its end backwards, generated on demand."""
    if has_times(trace):
        yield from (part for part in _Walk(trace).parts() if part.end > part.start)


class _Position(NamedTuple):
    """The position of the walk: on a thread at a moment, or at the end of a kernel."""

    moment: float
    thread: int
    kernel: int = NONE


class _Walk:
    """Walks from the end of a run backwards."""

    def __init__(self, trace: Trace) -> None:
        self._table = trace.table
        self._kernels, self._launches = trace.table.kernels, trace.table.launches
        self._threads = Threads(trace)
        self._ends = [
            start + duration
            for start, duration in zip(self._kernels.start, self._kernels.duration, strict=True)
        ]
        self._by_end = sorted(range(len(self._ends)), key=self._ends.__getitem__)
        self._sorted_ends = [self._ends[number] for number in self._by_end]
        self._waiting = DeviceWaits(trace)
        self._previous = self._of_streams()
        self._waits = self._event_waits()
        self._engine = sorted(self._engine_roots())
        self._switched = float("inf")
        """Moment of the last switch between threads: the next one is earlier."""

    def parts(self) -> Iterator[Part]:
        """From the last part to the first."""
        at = self._last()
        while at is not None:
            found, at = self._of_kernel(at) if at.kernel >= 0 else self._of_thread(at)
            yield from found

    def _last(self) -> _Position | None:
        ends = [
            _Position(self._table.start[row] + self._table.duration[row], self._table.thread[row])
            for row in self._table.roots
        ]
        if self._by_end:
            ends.append(_Position(self._sorted_ends[-1], NONE, self._by_end[-1]))
        return max(ends, default=None)

    # ---------------------------------------------------------------------- devices

    def _of_streams(self) -> dict[int, int]:
        """Device work -> the work before it on its stream."""
        kernels, last, found = self._kernels, dict[int, int](), dict[int, int]()
        for number in sorted(range(len(kernels)), key=kernels.start.__getitem__):
            place = kernels.place[number]
            if place in last:
                found[number] = last[place]
            last[place] = number
        return found

    def _event_waits(self) -> list[float]:
        """When the program made a stream wait for another one."""
        names = self._launches.names.values
        waits = {number for number, name in enumerate(names) if "StreamWaitEvent" in name}
        pairs = zip(self._launches.name, self._launches.start, strict=True)
        return sorted(start for name, start in pairs if name in waits)

    def _of_kernel(self, at: _Position) -> tuple[list[Part], _Position | None]:
        """Device work, and the last of its dependencies: its launch or earlier device work."""
        number, kernels = at.kernel, self._kernels
        start, row = kernels.start[number], kernels.op[number]
        name = kernels.names[kernels.name[number]]
        parts = [Part(start, min(at.moment, self._ends[number]), "kernel", name, row, number)]
        launch = self._launches.numbers.get(kernels.correlation[number], NONE)
        before = self._before(number, launch)
        launched = self._launches.start[launch] if launch >= 0 else float("-inf")
        if before >= 0 and self._ends[before] >= launched:
            end = min(self._ends[before], start)
            parts.append(Part(end, start, "queue", name, row, number))
            return parts, _Position(end, NONE, before)
        if launch < 0:
            return parts, None
        parts.append(Part(min(launched, start), start, "launch", name, row, number))
        return parts, _Position(min(launched, start), self._launches.thread[launch])

    def _before(self, number: int, launch: int) -> int:
        """The last work that it had to wait for: on its stream, or on another one if the program
        made streams wait between the two launches."""
        before = self._previous.get(number, NONE)
        if launch < 0 or not self._waits:
            return before
        start = self._kernels.start[number]
        last = self._launches.start[launch]
        first = self._launch_of(before)
        wait = bisect_left(self._waits, last) - 1
        if wait < 0 or self._waits[wait] < first:
            return before
        other = bisect_right(self._sorted_ends, start) - 1
        return max(before, self._by_end[other], key=self._end) if other >= 0 else before

    def _end(self, number: int) -> float:
        return self._ends[number] if number >= 0 else float("-inf")

    def _launch_of(self, number: int) -> float:
        launch = self._launches.numbers.get(self._kernels.correlation[number], NONE)
        return self._launches.start[launch] if number >= 0 and launch >= 0 else float("-inf")

    # ---------------------------------------------------------------------- threads

    def _engine_roots(self) -> Iterator[tuple[float, float, int]]:
        """(end, start, thread) of what the autograd engine ran on its own threads."""
        table = self._table
        for row in table.roots:
            if table.kind[row] in (ENGINE, NODE) and table.duration[row] > 0:
                start = table.start[row]
                yield start + table.duration[row], start, table.thread[row]

    def _of_thread(self, at: _Position) -> tuple[list[Part], _Position | None]:
        """What a thread was doing before a moment, or what it was waiting for."""
        piece = self._threads.before(at.thread, at.moment)
        if piece is None:
            return [], self._starter(at)
        waited = self._kernel_waited_for(piece) if piece.launch >= 0 else None
        if waited is not None:
            return [self._part(piece, at.thread, waited.moment)], waited
        worker = self._worker(piece, at) if piece.launch < 0 else None
        if worker is not None:
            self._switched = worker.moment
            return [self._part(piece, at.thread, worker.moment)], worker
        if piece.row == NONE and piece.launch == NONE:
            starter = self._starter(at)
            if starter is not None:
                return [], starter
        return [self._part(piece, at.thread)], _Position(piece.start, at.thread)

    def _part(self, piece: Piece, thread: int, since: float | None = None) -> Part:
        kind, name = self._kind(piece)
        if since is not None:
            return Part(since, piece.end, "wait", name, piece.row, thread=thread)
        return Part(piece.start, piece.end, kind, name, piece.row, thread=thread)

    def _kind(self, piece: Piece) -> tuple[Kind, str]:
        table, row = self._table, piece.row
        if piece.launch >= 0:
            return "runtime", self._launches.names[self._launches.name[piece.launch]]
        if row < 0:
            return "program", "the program's own code"
        kind: Kind = "operator" if table.kind[row] not in (CALL, ANNOTATION) else "call"
        return kind, table.label(table.name[row])

    def _kernel_waited_for(self, piece: Piece) -> _Position | None:
        """The device work whose end a runtime call was waiting for."""
        if piece.launch not in self._waiting:
            return None
        last = bisect_right(self._sorted_ends, piece.end) - 1
        if last < 0 or self._sorted_ends[last] <= piece.start:
            return None
        return _Position(self._sorted_ends[last], NONE, self._by_end[last])

    def _worker(self, piece: Piece, at: _Position) -> _Position | None:
        """The autograd engine's thread that this one waited for."""
        if not self._engine:
            return None
        number = bisect_right(self._engine, (piece.end, float("inf"), 0)) - 1
        while number >= 0 and self._engine[number][0] > piece.start:
            end, start, thread = self._engine[number]
            if thread != at.thread and start >= piece.start and end < self._switched:
                return _Position(end, thread)
            number -= 1
        return None

    def _starter(self, at: _Position) -> _Position | None:
        """For a thread that was idle or is new: the busy thread that gave it its work."""
        if at.moment >= self._switched or not self._is_worker(at.thread):
            return None
        others = [thread for thread in self._threads if thread != at.thread]
        found = [(self._threads.before(other, at.moment), other) for other in others]
        awake = [(piece.start, other) for piece, other in found if piece and piece.row >= 0]
        if not awake:
            return None
        self._switched = at.moment
        return _Position(at.moment, max(awake)[1])

    def _is_worker(self, thread: int) -> bool:
        """Whether a thread runs what others give it: it did not exist at the beginning."""
        return thread != min(self._threads, key=self._threads.first, default=thread)
