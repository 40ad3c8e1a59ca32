"""Caches the summaries of ranks in Parquet files, which Polars scans.

Only if Polars is installed (``torchnav[ranks]``); without it, traces are read each time and
``summary`` compares the ranks in memory.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.source.files import read_file
from navigator.trace.figures.collectives import Skew
from navigator.trace.model import Arrival, BadRank, NameTotal, Rank
from navigator.trace.ranks.files import fsspec, is_url
from navigator.trace.ranks.summary import Compared, Spread

if TYPE_CHECKING:
    import polars as pl

_KEPT = "rank"
"""The key of the rank's own facts in the file's metadata."""
Results = Iterator[Rank | BadRank]


def is_possible() -> bool:
    """Whether Polars is installed."""
    return find_spec("polars") is not None


class StoredReductions:
    """A folder with the summaries of ranks."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError if the folder cannot be created."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._stems: dict[str, str] = {}
        """File names for each trace, without the suffix."""

    def complete(self, files: Sequence[str], read: Callable[[Sequence[str]], Results]) -> Results:
        """The rank of each file, without totals, from the cache or else ``read``."""
        stored = {file: self._stored_rank(file) for file in files}
        rest = read([file for file in files if stored[file] is None])
        for file in files:
            found = stored[file] or next(rest)
            if isinstance(found, Rank) and stored[file] is None:
                found = self._keep(file, found)
            yield found

    def compare(self, ranks: Sequence[Rank]) -> Compared:
        """As ``summary.compare``, with two streaming scans of the files."""
        return (self.spreads(ranks), self.skews(ranks)) if ranks else ([], [])

    def spreads(self, ranks: Sequence[Rank]) -> list[Spread]:
        """Each name of each kind, by total time, descending."""
        import polars as pl

        rows = self._scan("totals", ranks)
        own = pl.col("own_us")
        grouped = rows.group_by("kind", "name").agg(
            ranks=pl.len(),
            count=pl.col("count").sum(),
            own=own.sort(),
            slowest=pl.col("rank").sort_by(["own_us", "rank"], descending=[True, False]).first(),
        )
        low, high = (len(ranks) - 1) // 2, len(ranks) // 2
        found = grouped.select(
            "kind",
            "name",
            "ranks",
            "count",
            min_us=_nth(0, len(ranks)),
            median_us=(_nth(low, len(ranks)) + _nth(high, len(ranks))) / 2,
            max_us=pl.col("own").list.last(),
            total_us=pl.col("own").list.sum(),
            slowest="slowest",
        ).sort("kind", "total_us", "name", descending=[False, True, False])
        return [Spread(**row) for row in found.collect(engine="streaming").iter_rows(named=True)]

    def skews(self, ranks: Sequence[Rank]) -> list[Skew]:
        """Collectives called by several ranks, the largest wait first."""
        import polars as pl

        start, end = pl.col("start_us"), pl.col("end_us")
        calls = (
            self._scan("arrivals", ranks)
            .sort("rank")
            .group_by("name", "number")
            .agg(
                ranks=pl.len(),
                start_us=start.max() - start.min(),
                end_us=end.max() - end.min(),
                last=pl.col("rank").sort_by(["start_us", "rank"], descending=[True, False]).first(),
            )
        )
        found = calls.filter(pl.col("ranks") > 1).sort(
            ["start_us", "name", "number"], descending=[True, False, False]
        )
        return [Skew(**row) for row in found.collect(engine="streaming").iter_rows(named=True)]

    def _scan(self, what: str, ranks: Sequence[Rank]) -> pl.LazyFrame:
        """The rows of all ranks, each with its rank."""
        import polars as pl

        files = [str(self._path(rank.path, what)) for rank in ranks]
        numbers = pl.LazyFrame({"file": files, "rank": [rank.number for rank in ranks]})
        rows = pl.scan_parquet(files, include_file_paths="file")
        return rows.join(numbers, on="file").drop("file")

    def _path(self, file: str, what: str) -> Path:
        if file not in self._stems:
            self._stems[file] = _key(file)
        return self._folder / f"{self._stems[file]}.{what}.parquet"

    def _stored_rank(self, file: str) -> Rank | None:
        import polars as pl

        try:
            metadata, _ = (
                pl.read_parquet_metadata(self._path(file, what)) for what in ("totals", "arrivals")
            )
            rank = json.loads(metadata[_KEPT])
            lists = {"problems": tuple(rank["problems"]), "totals": (), "arrivals": ()}
            return Rank(**rank | lists | {"path": file})
        except (OSError, pl.exceptions.PolarsError, KeyError, TypeError, ValueError):
            return None  # missing, truncated, or of another version

    def _keep(self, file: str, rank: Rank) -> Rank:
        """Write a summary; returns the rank without the totals that are now in the file."""
        light = replace(rank, totals=(), arrivals=())
        self._write(file, "arrivals", rank.arrivals, Arrival)
        self._write(file, "totals", rank.totals, NameTotal, {_KEPT: json.dumps(asdict(light))})
        return light

    def _write(
        self,
        file: str,
        what: str,
        rows: Sequence[NameTotal | Arrival],
        kind: type[NameTotal | Arrival],
        metadata: dict[str, str] | None = None,
    ) -> None:
        import polars as pl

        types = {"str": pl.String, "int": pl.Int64, "float": pl.Float64}
        columns = {one.name: types[str(one.type)] for one in fields(kind)}
        path = self._path(file, what)
        made = path.with_suffix(f".{os.getpid()}")
        pl.DataFrame([asdict(row) for row in rows], schema=columns).write_parquet(
            made, metadata=metadata
        )
        made.replace(path)


def _nth(place: int, ranks: int) -> pl.Expr:
    """The n-th of the ranks' sorted times; ranks without the name are zeros, first."""
    import polars as pl

    at = place - ranks + pl.col("ranks").cast(pl.Int64)
    value = pl.col("own").list.get(pl.max_horizontal(at, pl.lit(0)), null_on_oob=True)
    return pl.when(at < 0).then(0.0).otherwise(value)


def _key(file: str) -> str:
    """Identifies a trace's version and the code that reads it."""
    if is_url(file):
        system, path = fsspec().url_to_fs(file)
        state = str(system.checksum(path))
    else:
        found = os.stat(file)
        file, state = os.path.abspath(file), f"{found.st_size} {found.st_mtime_ns}"
    return hashlib.sha256("\0".join((file, state, _code())).encode()).hexdigest()[:24]


@cache
def _code() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(read_file(path))
    return digest.hexdigest()
