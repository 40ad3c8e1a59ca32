"""Time spans: pairs of start and end, in microseconds as in the trace's columns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from navigator.trace.table import ANNOTATION, CALL, ENGINE, NODE, OP, REGION

if TYPE_CHECKING:  # else a circular import
    from navigator.trace.trace import Trace

Span = tuple[float, float]


def merged(spans: Iterable[Span]) -> list[Span]:
    """The union of spans by time, as disjoint spans."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def length(spans: Iterable[Span]) -> float:
    """The sum of their lengths."""
    return sum(end - start for start, end in spans)


def gaps(busy: Sequence[Span], within: Span) -> list[Span]:
    """The parts of a span not covered by the merged spans."""
    at, found = within[0], []
    for start, end in busy:
        if start > at:
            found.append((at, min(start, within[1])))
        at = max(at, end)
        if at >= within[1]:
            break
    if at < within[1]:
        found.append((at, within[1]))
    return [span for span in found if span[1] > span[0]]


def shares(parts: Sequence[Span], span: Span) -> Iterator[tuple[int, Span]]:
    """Indexes of the parts that a span overlaps, with the overlap, for disjoint parts."""
    number = max(bisect_right(parts, (span[0], float("inf"))) - 1, 0)
    while number < len(parts) and parts[number][0] < span[1]:
        start, end = max(parts[number][0], span[0]), min(parts[number][1], span[1])
        if end > start:
            yield number, (start, end)
        number += 1


def part_at(parts: Sequence[Span], moment: float) -> int | None:
    """Index of the part at a moment. Parts are disjoint and by time."""
    number = bisect_right(parts, (moment, float("inf"))) - 1
    return number if number >= 0 and moment < parts[number][1] else None


def operator_rows(trace: Trace) -> Iterator[int]:
    """Operators, Nodes and regions not called by another one."""
    table = trace.table
    for row, kind in enumerate(table.kind[: len(table)]):
        if kind in (OP, NODE, ENGINE, REGION) and row not in table.untimed:
            parent = table.parent[row]
            if parent < 0 or table.kind[parent] in (CALL, ANNOTATION):
                yield row


def row_span(trace: Trace, row: int) -> Span:
    start = trace.table.start[row]
    return start, start + trace.table.duration[row]


def has_times(trace: Trace) -> bool:
    """Whether starts are times: some traces have only an order."""
    return any(trace.table.duration) or any(trace.table.kernels.duration)


def kernel_spans(trace: Trace) -> Iterator[Span]:
    """Times of each kernel, copy and fill."""
    kernels = trace.table.kernels
    for start, duration in zip(kernels.start, kernels.duration, strict=True):
        yield start, start + duration
