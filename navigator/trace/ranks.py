"""Traces of many ranks: one at a time is read and reduced to a few numbers a name.

Nothing of a rank stays in memory but its reduction, so hundreds of ranks take the memory of
as many as are read at once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from indexes.build.workers import start_workers
from indexes.model.errors import TorchnavError
from navigator.trace.model import BadRank, Rank

_SUFFIXES = (".json", ".json.gz")


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
