"""Reductions that are kept, so that a rank is read once: a Parquet file a rank, which Polars scans.

Only where Polars is installed (``torchnav[ranks]``); without it every trace is read each time, and
``summary`` compares the ranks in memory.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from navigator.trace.model import BadRank, Rank
from navigator.trace.ranks.files import fsspec, is_url
from navigator.trace.ranks.summary import Spread

if TYPE_CHECKING:
    import polars as pl

_KEPT = "rank"
"""The key, in the file's metadata, of what is known of the rank itself."""
Results = Iterator[Rank | BadRank]


def is_possible() -> bool:
    """Whether Polars is installed."""
    return find_spec("polars") is not None


class StoredReductions:
    """A folder with the reductions of ranks."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError when the folder cannot be made."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._paths: dict[str, Path] = {}
        """The Parquet file of each trace."""

    def complete(self, files: Sequence[str], read: Callable[[Sequence[str]], Results]) -> Results:
        """The rank of each file, without its totals: as it is kept, or else as ``read`` reduces
        it, in the order of the files."""
        kept = {file: self._kept(file) for file in files}
        rest = read([file for file in files if kept[file] is None])
        for file in files:
            found = kept[file] or next(rest)
            if isinstance(found, Rank) and found.totals:
                found = self._keep(file, found)
            yield found

    def spreads(self, ranks: Sequence[Rank]) -> list[Spread]:
        """Each name of each kind, most time first, as ``summary.spreads`` finds them, by one
        streaming scan over the files."""
        import polars as pl

        if not ranks:
            return []
        files = [str(self._paths[rank.path]) for rank in ranks]
        numbers = pl.LazyFrame({"file": files, "rank": [rank.number for rank in ranks]})
        rows = pl.scan_parquet(files, include_file_paths="file").join(numbers, on="file")
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

    def _kept(self, file: str) -> Rank | None:
        import polars as pl

        path = self._paths[file] = self._folder / f"{_key(file)}.parquet"
        if not path.exists():
            return None
        try:
            told = json.loads(pl.read_parquet_metadata(path)[_KEPT])
            return Rank(**told | {"problems": tuple(told["problems"]), "path": file})
        except (OSError, pl.exceptions.PolarsError, KeyError, TypeError, ValueError):
            return None  # cut, or of another version: it is made anew

    def _keep(self, file: str, rank: Rank) -> Rank:
        """Write a reduction, and forget its totals."""
        import polars as pl

        path, light = self._paths[file], replace(rank, totals=())
        made = path.with_suffix(f".{os.getpid()}")
        columns = {"kind": pl.String, "name": pl.String, "count": pl.Int64, "own_us": pl.Float64}
        frame = pl.DataFrame([asdict(one) for one in rank.totals], schema=columns)
        frame.write_parquet(made, metadata={_KEPT: json.dumps(asdict(light))})
        made.replace(path)
        return light


def _nth(place: int, ranks: int) -> pl.Expr:
    """The value at a place of the sorted times of all ranks; those without the name are zeros, and
    come first."""
    import polars as pl

    at = place - ranks + pl.col("ranks").cast(pl.Int64)
    own = pl.col("own").list.get(pl.max_horizontal(at, pl.lit(0)), null_on_oob=True)
    return pl.when(at < 0).then(0.0).otherwise(own)


def _key(file: str) -> str:
    """Of a trace as it is now, and of the code that reads it."""
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
        digest.update(path.read_bytes())
    return digest.hexdigest()
