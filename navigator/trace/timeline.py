"""How busy each part of a run was, by phase, on the CPU and on devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from navigator.trace.table import ANNOTATION, CALL, ENGINE, NODE, OP, PHASES, REGION

if TYPE_CHECKING:  # else a circular import
    from navigator.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Timeline:
    """A run cut into equal parts. Times in microseconds."""

    start_us: float
    span_us: float
    cpu: tuple[tuple[float, ...], ...]
    """Time in operators by part and phase; can exceed the part's length with several threads."""
    device: tuple[float, ...]
    """Device time by part, overlapping streams counted once; empty without devices."""

    @property
    def part_us(self) -> float:
        return self.span_us / len(self.cpu) if self.cpu else 0.0

    @property
    def totals(self) -> tuple[tuple[str, float], ...]:
        """Time in each phase, and on devices if there are any."""
        sums = zip(PHASES, map(sum, zip(*self.cpu, strict=True)), strict=False)
        found = (*sums, ("device", sum(self.device)))
        return tuple((name, time) for name, time in found if time)


Span = tuple[float, float, int]
"""(start, end, phase)"""


def timeline(trace: Trace, parts: int) -> Timeline:
    """A trace's run in this number of parts."""
    operators, kernels = list(_operators(trace)), list(_kernels(trace))
    both = (*operators, *kernels)
    if not both or parts < 1:
        return Timeline(0.0, 0.0, (), ())
    start = min(span[0] for span in both)
    length = max(max(span[1] for span in both) - start, 1e-3)
    cpu = _filled(operators, start, length / parts, parts, len(PHASES))
    device = _filled(_merged(kernels), start, length / parts, parts, 1)
    return Timeline(
        start - (trace.table.zero or 0.0),
        length,
        tuple(map(tuple, cpu)),
        tuple(part[0] for part in device) if kernels else (),
    )


def _operators(trace: Trace) -> Iterator[Span]:
    """Operators and Nodes not called by others."""
    table = trace.table
    for row, kind in enumerate(table.kind[: len(table)]):
        if kind not in (OP, NODE, ENGINE, REGION):
            continue
        parent = table.parent[row]
        if parent < 0 or table.kind[parent] in (CALL, ANNOTATION):
            start = table.start[row]
            yield start, start + table.duration[row], table.phase[row]


def _kernels(trace: Trace) -> Iterator[Span]:
    kernels = trace.table.kernels
    for start, duration in zip(kernels.start, kernels.duration, strict=False):
        yield start, start + duration, 0


def _merged(spans: list[Span]) -> Iterator[Span]:
    """The union of spans."""
    begin = end = float("-inf")
    for start, stop, _ in sorted(spans):
        if start > end:
            if end > begin:
                yield begin, end, 0
            begin = start
        end = max(end, stop)
    if end > begin:
        yield begin, end, 0


def _filled(
    spans: Sequence[Span] | Iterator[Span], start: float, length: float, parts: int, phases: int
) -> list[list[float]]:
    filled = [[0.0] * phases for _ in range(parts)]
    edges = [start + n * length for n in range(parts + 1)]
    for begin, end, phase in spans:
        first = min(int((begin - start) / length), parts - 1)
        last = min(int((end - start) / length), parts - 1)
        for part, (left, right) in enumerate(pairwise(edges[first : last + 2]), first):
            filled[part][phase] += max(min(end, right) - max(begin, left), 0.0)
    return filled
