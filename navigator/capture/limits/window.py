"""Selects the events of a profiler window if only a part is recorded."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ..kineto import marker_number
from .options import Limits

_SPAN = re.compile(rb'"tid": (?P<tid>\d+), "ts": (?P<ts>[\d.]+)(?:, "dur": (?P<dur>[\d.]+))?')


@dataclass(slots=True)
class Part:
    """Which events of a window to keep."""

    until: float
    """Time in microseconds at which to stop."""
    most: int
    """Maximum number of operators; calls are kept or dropped as a whole."""
    limits: Limits
    left_out: bool = False
    """Whether operators were dropped because of it."""

    def of(self, events: list[bytes], modules: dict[int, str]) -> list[bytes]:
        """The events to keep; ``modules`` has the module of each call, by number."""
        spans = [Span.of(event) for event in events]
        until = cutoff_time([s for s in spans if s and s.start < self.until], self.most)
        self.left_out = until < self.until
        until = min(self.until, until)
        inside = None
        if self.limits.only:
            calls = (s for s in spans if s and self.limits.matches(modules.get(s.marker, "")))
            inside = Spans(span for span in calls if span.marker >= 0)
        return [
            event
            for event, span in zip(events, spans, strict=True)
            if span is None or (span.start < until and (inside is None or span in inside))
        ]


class Span(NamedTuple):
    """When and where an event of the host ran, in microseconds."""

    thread: int
    start: float
    end: float
    operator: bool
    """Whether it counts as an operator: markers and ``record_function`` blocks do not."""
    marker: int
    """Number of the call that it marks, or -1."""

    @classmethod
    def of(cls, event: bytes) -> Span | None:
        """None for events without a time on the host: metadata and device work."""
        found = _SPAN.search(event)
        if found is None or b'"stream":' in event:
            return None
        marker, start = marker_number(event), float(found["ts"])
        operator = marker < 0 and b'"cat": "cpu_op"' in event
        end = start + float(found["dur"] or 0)
        return cls(int(found["tid"]), start, end, operator, marker)


class Spans:
    """Tells whether an event lies in one of several spans; those of a thread do not overlap."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._threads: dict[int, list[tuple[float, float]]] = {}
        for span in spans:
            self._threads.setdefault(span.thread, []).append((span.start, span.end))
        for found in self._threads.values():
            found.sort()

    def __contains__(self, span: Span) -> bool:
        found = self._threads.get(span.thread, [])
        at = bisect_right(found, (span.start, float("inf"))) - 1
        return at >= 0 and span.end <= found[at][1]


def cutoff_time(spans: Iterable[Span | None], most: int) -> float:
    """When the first call starts that would exceed the number of operators; infinite if all fit."""
    host = [span for span in spans if span and (span.operator or span.marker >= 0)]
    operators = sorted(span.start for span in host if span.operator)
    if len(operators) <= most:
        return float("inf")
    until, before = operators[most], float("inf")
    while until < before:
        before = until
        until = min((s.start for s in host if s.start < until < s.end), default=until)
    return until
