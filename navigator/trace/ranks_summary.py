"""What the ranks of a run have in common and where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from navigator.trace.model import BadRank, Rank

_FAR = 1.05
_DEVIATIONS = 3.0


@dataclass(frozen=True, slots=True)
class Spread:
    """Time under one name across the ranks, in microseconds; a rank without it counts as 0."""

    kind: str
    name: str
    ranks: int
    """How many ranks have it."""
    count: int
    """Of all ranks together."""
    min_us: float
    median_us: float
    max_us: float
    total_us: float
    slowest: int
    """The rank with the most time."""

    @property
    def imbalance(self) -> float | None:
        """How far the slowest rank is above the median, 1 when it is not; None when most ranks
        do not have it."""
        return self.max_us / self.median_us if self.median_us else None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """All ranks of a run."""

    ranks: tuple[Rank, ...]
    """By number, without their totals."""
    spreads: tuple[Spread, ...]
    """Most time first, by kind."""
    stragglers: tuple[Rank, ...]
    """Ranks that compute far longer than the median: more than 5 %, and more than three times
    the usual deviation. The others wait for them in collectives."""
    bad: tuple[BadRank, ...]
    median_compute_us: float


def summarise(results: Iterable[Rank | BadRank]) -> RunSummary:
    """The ranks are taken one by one; of each only its totals by name are kept."""
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
                BadRank(
                    result.path, f"is rank {result.number} too, as is {ranks[result.number].path}"
                )
            )
        else:
            ranks[result.number] = result
    _number(unnumbered, ranks)
    whole = [ranks[number] for number in sorted(ranks)]
    stragglers, median = _stragglers(whole)
    return RunSummary(tuple(whole), tuple(_spreads(whole)), stragglers, tuple(bad), median)


def _number(unnumbered: Sequence[Rank], ranks: dict[int, Rank]) -> None:
    """Those that do not say who they are get the free numbers, in the order of the files."""
    free = 0
    for rank in unnumbered:
        while free in ranks:
            free += 1
        ranks[free] = replace(rank, number=free)


def _spreads(ranks: Sequence[Rank]) -> Iterable[Spread]:
    totals = [
        (rank.number, one.kind, one.name, one.count, one.own_us)
        for rank in ranks
        for one in rank.totals
    ]
    schema = {
        "rank": pl.Int64,
        "kind": pl.String,
        "name": pl.String,
        "count": pl.Int64,
        "own": pl.Float64,
    }
    frame = pl.DataFrame(totals, schema=schema, orient="row")
    own, missing = pl.col("own"), len(ranks) - pl.len()
    padded = pl.concat_list(own.implode(), pl.lit(0.0).repeat_by(missing))
    spread = (
        frame.group_by("kind", "name")
        .agg(
            pl.len().alias("ranks"),
            pl.col("count").sum(),
            pl.when(missing > 0).then(0.0).otherwise(own.min()).alias("min_us"),
            padded.list.median().first().alias("median_us"),
            own.max().alias("max_us"),
            own.sum().alias("total_us"),
            pl.col("rank").get(own.arg_max()).alias("slowest"),
        )
        .sort("kind", "total_us", "name", descending=[False, True, False])
    )
    return [Spread(*row) for row in spread.iter_rows()]


def _stragglers(ranks: Sequence[Rank]) -> tuple[tuple[Rank, ...], float]:
    compute = pl.Series([rank.compute_us for rank in ranks], dtype=pl.Float64)
    median = float(compute.median() or 0.0)  # type: ignore[arg-type]
    deviation = float((compute - median).abs().median() or 0.0)
    limit = max(median * _FAR, median + _DEVIATIONS * 1.4826 * deviation)
    return tuple(rank for rank in ranks if rank.compute_us > limit), median
