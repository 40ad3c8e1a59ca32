"""Compares the ranks of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from indexes.model.lines import grouped
from navigator.trace.figures.collectives import Skew, skews
from navigator.trace.model import BadRank, NameTotal, Rank

_FAR = 1.05
_DEVIATIONS = 3.0


@dataclass(frozen=True, slots=True)
class Spread:
    """Time under one name across ranks, in microseconds; a rank without it counts as 0."""

    kind: str
    name: str
    ranks: int
    """Number of ranks that have it."""
    count: int
    """Sum over all ranks."""
    min_us: float
    median_us: float
    max_us: float
    total_us: float
    slowest: int
    """The rank with the most time."""

    @property
    def imbalance(self) -> float | None:
        """The slowest rank relative to the median; None if most ranks lack the name."""
        return self.max_us / self.median_us if self.median_us else None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """All ranks of a run."""

    ranks: tuple[Rank, ...]
    """By number."""
    spreads: tuple[Spread, ...]
    """By kind, by total time, descending."""
    skews: tuple[Skew, ...]
    """Collectives called by several ranks, the largest wait first."""
    stragglers: tuple[Rank, ...]
    """Ranks whose computation takes over 5 % and over three times the usual deviation more than the
    median. The others wait for them in collectives."""
    bad: tuple[BadRank, ...]
    median_compute_us: float


def spreads(ranks: Sequence[Rank]) -> list[Spread]:
    """Each name of each kind, by kind, by total time, descending."""
    totals = ((rank.number or 0, total) for rank in ranks for total in rank.totals)
    found = grouped(((one[1].kind, one[1].name), one) for one in totals)
    made = [_spread(*key, totals, len(ranks)) for key, totals in found.items()]
    return sorted(made, key=lambda one: (one.kind, -one.total_us, one.name))


def summarise(results: Iterable[Rank | BadRank]) -> RunSummary:
    """Collects the ranks, then compares them once all are numbered."""
    ranks: dict[int, Rank] = {}
    bad: list[BadRank] = []
    unnumbered: list[Rank] = []
    for result in results:
        if isinstance(result, BadRank):
            bad.append(result)
        elif result.number is None:
            unnumbered.append(result)
        elif result.number in ranks:
            bad.append(
                BadRank(result.path, f"has rank {result.number}, like {ranks[result.number].path}")
            )
        else:
            ranks[result.number] = result
    _number(unnumbered, ranks)
    whole = [ranks[number] for number in sorted(ranks)]
    stragglers, median = _stragglers(whole)
    late = skews({rank.number or 0: rank.arrivals for rank in whole})
    compared = tuple(spreads(whole)), tuple(late)
    return RunSummary(tuple(whole), *compared, stragglers, tuple(bad), median)


def _number(unnumbered: Sequence[Rank], ranks: dict[int, Rank]) -> None:
    """Assigns free numbers, in file order, to ranks that do not state theirs."""
    free = 0
    for rank in unnumbered:
        while free in ranks:
            free += 1
        ranks[free] = replace(rank, number=free)


def _spread(kind: str, name: str, totals: list[tuple[int, NameTotal]], ranks: int) -> Spread:
    times_of_ranks = [one.own_us for _, one in totals]
    padded = [*times_of_ranks, *[0.0] * (ranks - len(times_of_ranks))]
    slowest, most = max(totals, key=lambda pair: pair[1].own_us)
    count = sum(one.count for _, one in totals)
    times = min(padded), median(padded), most.own_us, sum(times_of_ranks)
    return Spread(kind, name, len(totals), count, *times, slowest)


def _stragglers(ranks: Sequence[Rank]) -> tuple[tuple[Rank, ...], float]:
    if not ranks:
        return (), 0.0
    middle = median(rank.compute_us for rank in ranks)
    deviation = median(abs(rank.compute_us - middle) for rank in ranks)
    limit = max(middle * _FAR, middle + _DEVIATIONS * 1.4826 * deviation)
    return tuple(rank for rank in ranks if rank.compute_us > limit), middle
