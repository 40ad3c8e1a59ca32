"""A run as lanes over time: phases, threads, streams, idle time, the critical path."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from typing import NamedTuple

from indexes.model.lines import grouped
from navigator.trace.columns import NONE
from navigator.trace.figures.critical import critical_path
from navigator.trace.figures.idle import idle_gaps
from navigator.trace.figures.spans import operator_rows
from navigator.trace.table import ENGINE, NODE, OP, PHASES, REGION, Table
from navigator.trace.trace import Trace

DEPTH = 4
"""Levels of calls that have a lane in each thread."""


class Item(NamedTuple):
    """A span of a lane. Times as in the trace's columns, in microseconds."""

    start: float
    end: float
    row: int
    """The row of the trace behind it, or NONE."""
    label: str
    colour: str
    """Its colour: a phase, ``device``, ``idle``, ``path``."""


@dataclass(slots=True)
class Lane:
    """Spans by time without overlaps."""

    name: str
    items: Sequence[Item]
    depth: int = 0
    """For threads: the nesting level of its calls."""
    is_work: bool = True
    """Whether time without a span is idle time."""
    _starts: list[float] = field(default_factory=list)
    _ends: list[float] = field(default_factory=list)
    _sums: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._starts = [item.start for item in self.items]
        self._ends = [item.end for item in self.items]
        lengths = (item.end - item.start for item in self.items)
        self._sums = list(accumulate(lengths, initial=0.0))

    def within(self, start: float, end: float) -> range:
        """Indexes of the spans that overlap an interval."""
        return range(bisect_right(self._ends, start), bisect_left(self._starts, end))

    def busy(self, start: float, end: float) -> float:
        """Time within an interval that its spans cover, in microseconds."""
        found = self.within(start, end)
        if not found:
            return 0.0
        before = max(start - self._starts[found[0]], 0.0)
        after = max(self._ends[found[-1]] - end, 0.0)
        return self._sums[found[-1] + 1] - self._sums[found[0]] - before - after

    def at(self, moment: float) -> int:
        """Index of the span at a moment, or the nearest one."""
        number = min(bisect_right(self._ends, moment), len(self.items) - 1)
        if number and self._starts[number] > moment:
            after, before = self._starts[number] - moment, moment - self._ends[number - 1]
            return number - 1 if before < after else number
        return number


def lanes_of(trace: Trace) -> list[Lane]:
    """Lanes of phases, threads and streams that have a span."""
    found = [Lane("phases", list(_phases(trace)), is_work=False)]
    found += _threads(trace)
    found += _streams(trace)
    return [lane for lane in found if lane.items]


def lanes_between(trace: Trace) -> list[Lane]:
    """Idle time and the critical path, which are slow to compute for long runs."""
    found = [*_idle(trace)]
    path = [
        Item(p.start, p.end, p.row, f"{p.name} ({p.kind})", "path") for p in critical_path(trace)
    ]
    found.append(Lane("critical path", _apart(path), is_work=False))
    return [lane for lane in found if lane.items]


def _apart(items: Iterable[Item]) -> list[Item]:
    """By time, with overlaps cut off."""
    found: list[Item] = []
    for item in sorted(items):
        if found and item.start < found[-1].end:
            item = item._replace(start=found[-1].end)
        if item.end > item.start:
            found.append(item)
    return found


def _item(table: Table, row: int, label: Callable[[int], str]) -> Item:
    start = table.start[row]
    return Item(start, start + table.duration[row], row, label(row), PHASES[table.phase[row]])


def _label(table: Table, row: int) -> str:
    name = table.label(table.name[row]).removeprefix("aten::")
    return name.rpartition(": ")[2] if table.kind[row] == ENGINE else name


def _phases(trace: Trace) -> Iterator[Item]:
    """From the first to the last consecutive outermost operator of a phase."""
    table = trace.table
    rows = sorted(operator_rows(trace), key=table.start.__getitem__)
    at = float("-inf")
    for phase, group in groupby(rows, lambda row: table.phase[row]):
        together = list(group)
        start = max(table.start[together[0]], at)
        at = max(start, *(table.start[row] + table.duration[row] for row in together))
        if at > start:
            yield Item(start, at, together[0], PHASES[phase], PHASES[phase])


def _threads(trace: Trace) -> Iterator[Lane]:
    table = trace.table
    by_thread = grouped((table.thread[row], row) for row in operator_rows(trace))
    for thread, rows in sorted(by_thread.items(), key=lambda one: -len(one[1])):
        for depth in range(DEPTH):
            items = _apart(_item(table, row, lambda row: _label(table, row)) for row in rows)
            yield Lane(f"thread {table.threads[thread][1]}", items, depth)
            rows = [child for row in rows for child in table.children(row)]
            rows = [row for row in rows if table.kind[row] in (OP, NODE, ENGINE, REGION)]


def _streams(trace: Trace) -> Iterator[Lane]:
    kernels = trace.table.kernels
    by_place: dict[int, list[Item]] = {}
    for number, place in enumerate(kernels.place):
        start, name = kernels.start[number], kernels.names[kernels.name[number]]
        item = Item(start, start + kernels.duration[number], kernels.op[number], name, "device")
        by_place.setdefault(place, []).append(item)
    for place, items in by_place.items():
        device, stream = kernels.places[place]
        yield Lane(f"device {device} stream {stream}", _apart(items))


def _idle(trace: Trace) -> Iterator[Lane]:
    by_place: dict[str, list[Item]] = {}
    for gap in idle_gaps(trace):
        label = f"{gap.reason}: {gap.doing}" if gap.doing else gap.reason
        row = gap.row if gap.row >= 0 else NONE
        by_place.setdefault(gap.where, []).append(Item(gap.start, gap.end, row, label, "idle"))
    for place, items in by_place.items():
        yield Lane(f"{place} idle", _apart(items), is_work=False)
