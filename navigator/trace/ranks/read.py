"""Every trace reduced, one at a time in each worker: a process here, or a worker of a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from indexes.build.workers import start_workers
from indexes.model.errors import UsageError
from navigator.trace.model import BadRank, Rank
from navigator.trace.ranks.reduce import reduce_file

Progress = Callable[[int], None]
"""Called with the number of ranks that were read."""


def read_ranks(
    files: Sequence[str], workers: int = 0, progress: Progress | None = None
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


def read_on_cluster(
    files: Sequence[str], address: str, progress: Progress | None = None
) -> Iterator[Rank | BadRank]:
    """Each file reduced by the workers of a Dask cluster, in the order of the files.

    The workers open the files themselves: paths must be theirs too, or URLs. A rank that a worker
    could not reduce, since it was lost or has no torchnav, is a BadRank.

    Raises:
        UsageError: Dask is not installed, or no scheduler answers at the address.
    """
    try:
        import distributed
    except ImportError as error:
        raise UsageError("--cluster needs Dask: pip install 'torchnav[cluster]'") from error
    try:
        client = distributed.Client(address)
    except (OSError, ValueError) as error:
        raise UsageError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        futures = client.map(reduce_file, files, pure=False)
        if progress is not None:
            for done, _ in enumerate(distributed.as_completed(futures), 1):
                progress(done)
        for file, future in zip(files, futures, strict=True):
            problem = future.exception()
            yield BadRank(file, _one_line(problem)) if problem else future.result()


def _one_line(problem: BaseException) -> str:
    text = next(iter(str(problem).splitlines()), "")
    return f"was not reduced by the cluster: {type(problem).__name__}: {text}"


def _counted(
    ranks: Iterator[Rank | BadRank], progress: Progress | None
) -> Iterator[Rank | BadRank]:
    for done, rank in enumerate(ranks, 1):
        if progress is not None:
            progress(done)
        yield rank
