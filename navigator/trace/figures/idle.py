"""Idle time and its reasons: of devices if there are any, else of the CPU."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from indexes.model.lines import grouped
from navigator.trace.columns import NONE
from navigator.trace.figures.spans import (
    Span,
    gaps,
    has_times,
    merged,
    operator_rows,
    row_span,
    shares,
)
from navigator.trace.figures.threads import DeviceWaits, Threads
from navigator.trace.table import ANNOTATION, CALL
from navigator.trace.trace import Trace

COLLECTIVE = "waits for a collective"
SYNCHRONISED = "the CPU waited for the device, then launched again"
LAUNCH = "the CPU had not launched yet"
LATENCY = "launched, not yet started"
QUEUED = "launched before, waits on the device"
UNKNOWN = "its launch is not in the trace"
PROGRAM = "Python of the program"
CALLED = "Python in a call or a block"
OTHERWISE = "the program's own code"


class Gap(NamedTuple):
    """Time in which a device or the CPU is idle. Times as in the columns, in microseconds."""

    start: float
    end: float
    where: str
    """``device 0``; ``CPU``."""
    reason: str
    doing: str
    """What the CPU was doing, or waited for."""
    row: int
    """The row behind it, or NONE."""


def idle_gaps(trace: Trace) -> list[Gap]:
    """All gaps by time, between the trace's first and last event; gaps with several reasons are
    split. Empty for a trace without times."""
    if not has_times(trace):
        return []
    found = _of_devices(trace) if len(trace.table.kernels) else _of_cpu(trace)
    return sorted(found)


def whole(trace: Trace) -> Span:
    """From the first event to the end of the last."""
    table, kernels = trace.table, trace.table.kernels
    spans = [row_span(trace, row) for row in table.roots]
    spans += zip(
        kernels.start, map(sum, zip(kernels.start, kernels.duration, strict=True)), strict=True
    )
    return min((s for s, _ in spans), default=0.0), max((e for _, e in spans), default=0.0)


# ------------------------------------------------------------------------------- devices


def _of_devices(trace: Trace) -> Iterator[Gap]:
    kernels = trace.table.kernels
    ordered = sorted(range(len(kernels)), key=kernels.start.__getitem__)
    by_device = grouped((kernels.places[kernels.place[number]][0], number) for number in ordered)
    around, threads = whole(trace), Threads(trace)
    for device, numbers in by_device.items():
        yield from _Device(trace, threads, device, numbers).gaps(around)


class _Device:
    """A device and its work by time."""

    def __init__(self, trace: Trace, threads: Threads, device: str, numbers: Sequence[int]) -> None:
        self._trace, self._threads = trace, threads
        self._kernels, self._launches = trace.table.kernels, trace.table.launches
        self._where, self._waiting = f"device {device}", DeviceWaits(trace)
        names = self._kernels.names.values
        shared = {number for number, name in enumerate(names) if is_collective(name)}
        self._work = [n for n in numbers if self._kernels.name[n] not in shared]
        others = [n for n in numbers if self._kernels.name[n] in shared]
        self._collectives = {self._span(n): n for n in others}
        self._communicating = sorted(self._collectives)
        self._together = merged(self._collectives)
        self._first = {self._kernels.start[n]: n for n in reversed(self._work)}
        """Start -> the first kernel that starts then."""

    def gaps(self, around: Span) -> Iterator[Gap]:
        for gap in gaps(merged(map(self._span, self._work)), around):
            waiting = [span for _, span in shares(self._together, gap)]
            for span in waiting:
                yield Gap(*span, self._where, COLLECTIVE, *self._collective(span))
            following = self._first.get(gap[1], NONE)
            for rest in gaps(waiting, gap):
                yield from self._idle(rest, following)

    def _span(self, number: int) -> Span:
        start = self._kernels.start[number]
        return start, start + self._kernels.duration[number]

    def _collective(self, span: Span) -> tuple[str, int]:
        number = self._collectives[_running(self._communicating, span)]
        return self._name(number), self._kernels.op[number]

    def _name(self, number: int) -> str:
        return self._kernels.names[self._kernels.name[number]]

    def _idle(self, gap: Span, following: int) -> Iterator[Gap]:
        """Why the next kernel did not run in a gap: it was launched late, or in time."""
        start, end = gap
        if following < 0:
            yield Gap(start, end, self._where, LAUNCH, "nothing more", NONE)
            return
        op = self._kernels.op[following]
        name = _outermost(self._trace, op)[0] if op >= 0 else self._name(following)
        launch = self._launches.numbers.get(self._kernels.correlation[following], NONE)
        if launch < 0:
            yield Gap(start, end, self._where, UNKNOWN, name, op)
            return
        launched = min(self._launches.start[launch] + self._launches.duration[launch], end)
        if launched > start:
            reason, doing, row = self._host(self._launches.thread[launch], (start, launched))
            yield Gap(start, launched, self._where, reason, doing, row)
            if end > launched:
                yield Gap(launched, end, self._where, LATENCY, name, op)
        else:
            yield Gap(start, end, self._where, QUEUED, name, op)

    def _host(self, thread: int, span: Span) -> tuple[str, str, int]:
        """What delayed the launch: the call that waited for the device when the gap began, unless
        most of the gap was the program's own; else what took most of the gap."""
        times: dict[tuple[str, int], float] = {}
        waited: tuple[str, int] | None = None
        for piece in self._threads.within(thread, *span):
            begun = piece.launch >= 0 and piece.start <= span[0]
            if begun and not waited and piece.launch in self._waiting:
                name = self._launches.names[self._launches.name[piece.launch]]
                waited = f"{name} in {_label(self._trace, piece.row)}", piece.row
            key = _outermost(self._trace, piece.row)
            times[key] = times.get(key, 0.0) + piece.end - piece.start
        python = times.get((OTHERWISE, NONE), 0.0)
        if waited and python <= (span[1] - span[0]) / 2:
            return SYNCHRONISED, *waited
        return LAUNCH, *max(times, key=times.__getitem__)


def _running(spans: Sequence[Span], moment: Span) -> Span:
    """The first span by time that covers a moment."""
    number = max(bisect_right(spans, (moment[0], float("inf"))) - 1, 0)
    return next(span for span in spans[number:] if span[1] > moment[0])


def _outermost(trace: Trace, row: int) -> tuple[str, int]:
    """The outermost operator around a row."""
    for around in trace.table.ancestors(row):
        if trace.table.kind[around] in (CALL, ANNOTATION):
            break
        row = around
    return _label(trace, row), row


def _label(trace: Trace, row: int) -> str:
    return trace.table.label(trace.table.name[row]) if row >= 0 else OTHERWISE


# ----------------------------------------------------------------------------------- CPU


def _of_cpu(trace: Trace) -> Iterator[Gap]:
    """Time between operators, in all threads; collectives count as idle."""
    table = trace.table
    rows = sorted(operator_rows(trace), key=table.start.__getitem__)
    shared = [row for row in rows if is_collective(table.name_of(row))]
    work = [row for row in rows if row not in set(shared)]
    following = {table.start[row]: row for row in reversed(work)}
    waiting = {row_span(trace, row): row for row in shared}
    order, together = sorted(waiting), merged(waiting)
    for gap in gaps(merged(row_span(trace, row) for row in work), whole(trace)):
        spans = [span for _, span in shares(together, gap)]
        for span in spans:
            row = waiting[_running(order, span)]
            yield Gap(*span, "CPU", COLLECTIVE, _label(trace, row), row)
        for rest in gaps(spans, gap):
            yield _between(trace, rest, following.get(gap[1], NONE))


def _between(trace: Trace, gap: Span, following: int) -> Gap:
    """The Python time in a gap: of an open call, or of the program before the next operator."""
    table = trace.table
    above = table.ancestors(following) if following >= 0 else ()
    row = next((one for one in above if table.start[one] <= gap[0]), NONE)
    if row >= 0:
        return Gap(*gap, "CPU", CALLED, _label(trace, row), row)
    if following < 0:
        return Gap(*gap, "CPU", PROGRAM, "after the last operator", NONE)
    op = trace.op(following)
    return Gap(*gap, "CPU", PROGRAM, f"before {op.user or op.label}", following)


_COLLECTIVE = re.compile(
    r"(?:void )?(?:nccl|rccl|oneccl|hccl)"
    r"|(?:c10d::|_c10d_functional::|gloo:|nccl:|mpi:|ucc:)",
    re.IGNORECASE,
)
"""Kernels of collective libraries; on the CPU, operators and spans of process groups."""


def is_collective(name: str) -> bool:
    """Whether a kernel, an operator or a span communicates with other ranks."""
    return _COLLECTIVE.match(name) is not None
