"""How far apart the ranks of a run come to a collective, and leave it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from navigator.trace.figures.collectives import collectives
from navigator.trace.model import Arrival
from navigator.trace.trace import Trace

_BETWEEN_TWO = ("send", "recv")


@dataclass(frozen=True, slots=True)
class Skew:
    """One collective across the ranks that call it. Times in microseconds."""

    name: str
    number: int
    """Which of this name, from 0."""
    ranks: int
    start_us: float
    """From the first rank that calls it to the last."""
    end_us: float
    """From the first rank that is done with it to the last."""
    last: int
    """The rank that comes last: the others wait for it."""


def arrivals(trace: Trace) -> Iterator[Arrival]:
    """The collectives of a rank, by time; without what goes from one rank to another."""
    base = trace.meta.base_ns / 1000 + (trace.table.zero or 0.0)
    numbers: Counter[str] = Counter()
    for one in collectives(trace):
        operator = trace.table.name_of(one.row)
        if operator.rpartition("::")[2].startswith(_BETWEEN_TWO):
            continue
        name = f"{operator} {one.tensors}".rstrip()
        start, end = base + trace.op(one.row).start_us, base + one.end_us(trace)
        yield Arrival(name, numbers[name], start, end)
        numbers[name] += 1


def skews(ranks: Mapping[int, Sequence[Arrival]]) -> list[Skew]:
    """Each collective that several ranks call, the largest wait first. Ranks on several hosts are
    as far apart as their clocks besides."""
    together: defaultdict[tuple[str, int], dict[int, Arrival]] = defaultdict(dict)
    for rank, told in ranks.items():
        for one in told:
            together[one.name, one.number][rank] = one
    found = [_skew(*key, calls) for key, calls in together.items() if len(calls) > 1]
    return sorted(found, key=lambda one: (-one.start_us, one.name, one.number))


def _skew(name: str, number: int, calls: Mapping[int, Arrival]) -> Skew:
    starts = [one.start_us for one in calls.values()]
    ends = [one.end_us for one in calls.values()]
    last = max(calls, key=lambda rank: calls[rank].start_us)
    return Skew(name, number, len(calls), max(starts) - min(starts), max(ends) - min(ends), last)
