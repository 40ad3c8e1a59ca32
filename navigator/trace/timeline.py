"""How busy each part of a run was, by phase, on the CPU and on devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from navigator.trace.figures.spans import kernel_spans, merged, operator_rows, row_span
from navigator.trace.table import PHASES

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


PhaseSpan = tuple[float, float, int]
"""(start, end, phase)"""


def timeline(trace: Trace, parts: int) -> Timeline:
    """A trace's run in this number of parts."""
    phases = trace.table.phase
    operators = [(*row_span(trace, row), phases[row]) for row in operator_rows(trace)]
    kernels = [(*span, 0) for span in merged(kernel_spans(trace))]
    both = (*operators, *kernels)
    if not both or parts < 1:
        return Timeline(0.0, 0.0, (), ())
    start = min(span[0] for span in both)
    length = max(max(span[1] for span in both) - start, 1e-3)
    cpu = _filled(operators, start, length / parts, parts, len(PHASES))
    device = _filled(kernels, start, length / parts, parts, 1)
    return Timeline(
        start - (trace.table.zero or 0.0),
        length,
        tuple(map(tuple, cpu)),
        tuple(part[0] for part in device) if kernels else (),
    )


def _filled(
    spans: Sequence[PhaseSpan], start: float, length: float, parts: int, phases: int
) -> list[list[float]]:
    filled = [[0.0] * phases for _ in range(parts)]
    edges = [start + n * length for n in range(parts + 1)]
    for begin, end, phase in spans:
        first = min(int((begin - start) / length), parts - 1)
        last = min(int((end - start) / length), parts - 1)
        for part, (left, right) in enumerate(pairwise(edges[first : last + 2]), first):
            filled[part][phase] += max(min(end, right) - max(begin, left), 0.0)
    return filled
