"""Traces of many ranks: one at a time is read and reduced to a few numbers a name.

Nothing of a rank stays in memory but its reduction, so hundreds of ranks take the memory of
as many as are read at once. Polars reduces and joins; it is an optional dependency.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from indexes.build.workers import start_workers
from indexes.model.errors import TorchnavError

_SUFFIXES = (".json", ".json.gz")


@dataclass(frozen=True, slots=True)
class NameTotal:
    """What one rank spent under one name."""

    kind: str
    """``operator``, ``kernel``, ``phase`` or ``device phase``."""
    name: str
    count: int
    own_us: float
    """Time in themselves, without what they call."""


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank, reduced. Times in microseconds; of devices the union of all streams."""

    number: int | None
    """None where neither the trace nor its name tells."""
    path: str
    rows: int
    """Operators, calls and annotations, and kernels."""
    span_us: float
    compute_us: float = 0.0
    """Kernels other than collectives."""
    communication_us: float = 0.0
    """Collectives."""
    exposed_us: float = 0.0
    """Collectives during which nothing was computed."""
    busy_us: float = 0.0
    """Anything at all, copies and fills too."""
    on_device: bool = False
    """Whether the four above are of devices; else of operators on the CPU."""
    problems: tuple[str, ...] = ()
    totals: tuple[NameTotal, ...] = field(default=(), repr=False)

    @property
    def overlap(self) -> float | None:
        """Part of the communication that ran beside computation, 0 to 1; None without any."""
        if not self.communication_us:
            return None
        return 1 - self.exposed_us / self.communication_us

    @property
    def idle_us(self) -> float:
        """Time in which nothing ran."""
        return max(self.span_us - self.busy_us, 0.0)


@dataclass(frozen=True, slots=True)
class BadRank:
    """A file of the folder that could not be read, or is a rank that another one is too."""

    path: str
    reason: str


def require_polars() -> None:
    """Raises TorchnavError, with the command that installs it, where it is missing."""
    from importlib.util import find_spec

    if find_spec("polars") is None:
        raise TorchnavError("summaries of many ranks need polars: pip install 'torchnav[ranks]'")


def rank_files(folder: Path) -> list[Path]:
    """The files in a folder, and in those below it, that can be traces of ranks."""
    found = (path for path in folder.rglob("*") if path.name.endswith(_SUFFIXES))
    return sorted((path for path in found if path.is_file()), key=_by_numbers)


def _by_numbers(path: Path) -> list[tuple[int, str]]:
    """``rank2`` before ``rank10``."""
    parts = re.split(r"(\d+)", str(path))
    return [(int(part), "") if part.isdigit() else (0, part) for part in parts]


def read_ranks(
    files: Sequence[Path], workers: int = 0, progress: Callable[[int], None] | None = None
) -> Iterator[Rank | BadRank]:
    """Each file reduced, in the order of the files. ``workers`` 0: one for each core."""
    count = min(workers or os.cpu_count() or 1, len(files))
    if count < 2:
        yield from _counted(map(reduce_file, files), progress)
        return
    pool = start_workers(count)
    try:
        yield from _counted(pool.map(reduce_file, files), progress)
    finally:
        pool.shutdown(cancel_futures=True)


def _counted(
    ranks: Iterator[Rank | BadRank], progress: Callable[[int], None] | None
) -> Iterator[Rank | BadRank]:
    for done, rank in enumerate(ranks, 1):
        if progress is not None:
            progress(done)
        yield rank


def reduce_file(path: Path) -> Rank | BadRank:
    """One trace, read whole and reduced."""
    from navigator.trace.ranks_reduce import reduce_trace
    from navigator.trace.readers import read_trace

    try:
        trace = read_trace(path)
    except TorchnavError as error:
        return BadRank(str(path), str(error).removeprefix(f"{path} "))
    if not len(trace) and not len(trace.table.kernels):
        return BadRank(str(path), "it holds no operator and no kernel")
    return reduce_trace(trace, path)
