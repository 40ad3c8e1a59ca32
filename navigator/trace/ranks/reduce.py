"""Reduces the trace of each rank to times by name and device use, one trace at a time in each
worker: a local process or a worker of a cluster."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from indexes.build.workers import start_workers, working
from indexes.model.errors import TorchnavError, UsageError
from navigator.trace.columns import NONE
from navigator.trace.figures.collectives import arrivals
from navigator.trace.figures.idle import is_collective
from navigator.trace.figures.spans import length, merged
from navigator.trace.model import BadRank, NameTotal, Rank
from navigator.trace.ranks.files import local_file
from navigator.trace.readers import read_trace
from navigator.trace.table import ANNOTATION, CALL, COMPILE, GONE, NODE, OP, PHASES, REGION
from navigator.trace.trace import Trace

_RANK = re.compile(r"rank[\W_]{0,2}(\d+)", re.IGNORECASE)
_KERNEL = 0


class _Work(NamedTuple):
    """A row or a kernel. Times in microseconds."""

    label: str
    phase: str
    start: float
    end: float
    own: float
    """Self time."""
    copy: bool = False
    timed: bool = True
    """Whether its name gets a total."""
    outermost: bool = True
    """Whether no operator called it."""


def reduce_file(file: str) -> Rank | BadRank:
    """The summary of one trace, at a path or a URL."""
    try:
        with local_file(file) as path:
            trace = read_trace(path)
    except TorchnavError as error:
        return BadRank(file, str(error).removeprefix(f"{file} "))
    if not len(trace) and not len(trace.table.kernels):
        return BadRank(file, "it holds no operator and no kernel")
    return reduce_trace(trace, file)


def reduce_trace(trace: Trace, path: str) -> Rank:
    """What one rank did by name, and how its device was used."""
    rows, kernels = list(_rows(trace)), list(_kernels(trace))
    use = _device_use(kernels or [row for row in rows if row.outermost])
    timed = [row for row in rows if row.timed]
    return Rank(
        _number(trace, path),
        path,
        len(rows) + len(kernels),
        _span([*rows, *kernels]),
        *use,
        bool(kernels),
        tuple(trace.meta.problems),
        (
            *_totals("operator", ((row.label, row.own) for row in timed)),
            *_totals("kernel", ((kernel.label, kernel.own) for kernel in kernels)),
            *_totals("phase", ((row.phase, row.own) for row in rows)),
            *_totals("device phase", ((one.phase, one.own) for one in kernels)),
        ),
        tuple(arrivals(trace)),
    )


def _rows(trace: Trace) -> Iterator[_Work]:
    table = trace.table
    labels = [f"{name}.{overload}" if overload else name for name, overload in table.names.values]
    inside = [0.0] * len(table.kind)
    for parent, time in zip(table.parent, table.duration, strict=True):
        if parent >= 0:
            inside[parent] += time
    for row, kind in enumerate(table.kind):
        if kind == GONE:
            continue
        start, time, parent = table.start[row], table.duration[row], table.parent[row]
        yield _Work(
            labels[table.name[row]],
            PHASES[table.phase[row]],
            start,
            start + time,
            max(time - inside[row], 0.0),
            timed=kind in (OP, NODE, REGION) and table.phase[row] != COMPILE,
            outermost=kind not in (CALL, ANNOTATION)
            and (parent < 0 or table.kind[parent] in (CALL, ANNOTATION)),
        )


def _kernels(trace: Trace) -> Iterator[_Work]:
    """Kernels, copies and fills."""
    table, rows = trace.table.kernels, trace.table
    for name, op, work, start, time in zip(
        table.name, table.op, table.work, table.start, table.duration, strict=True
    ):
        phase = PHASES[rows.phase[op] if op != NONE else 0]
        yield _Work(table.names.values[name], phase, start, start + time, time, work != _KERNEL)


def _totals(kind: str, times: Iterable[tuple[str, float]]) -> Iterator[NameTotal]:
    """Totals by time, descending."""
    totals: dict[str, tuple[int, float]] = {}
    for name, time in times:
        count, total = totals.get(name, (0, 0.0))
        totals[name] = count + 1, total + time
    for name, (count, total) in sorted(totals.items(), key=lambda item: -item[1][1]):
        yield NameTotal(kind, name, count, total)


def _device_use(work: list[_Work]) -> tuple[float, float, float, float]:
    """Time computing, communicating, communicating without computing, and busy."""
    both = [one for one in work if not one.copy]
    collectives = [one for one in both if is_collective(one.label)]
    compute = _union(one for one in both if not is_collective(one.label))
    return compute, _union(collectives), _union(both) - compute, _union(work)


def _union(work: Iterable[_Work]) -> float:
    """The length of the union of spans."""
    return length(merged((one.start, one.end) for one in work))


def _span(work: list[_Work]) -> float:
    """From the first event to the end of the last."""
    if not work:
        return 0.0
    return max(one.end for one in work) - min(one.start for one in work)


def _number(trace: Trace, path: str) -> int | None:
    """The rank from the trace or else from its name: ``rank3.json``, ``rank_3/trace.json``."""
    if trace.meta.rank is not None:
        return trace.meta.rank
    found = _RANK.findall("/".join(PurePath(path).parts[-2:]))
    return int(found[-1]) if found else None


Progress = Callable[[int], None]
"""Called with the number of ranks done."""


def read_ranks(
    files: Sequence[str], workers: int = 0, progress: Progress | None = None
) -> Iterator[Rank | BadRank]:
    """The summary of each file, in order. ``workers`` 0: one for each core."""
    count = min(workers or os.cpu_count() or 1, len(files))
    if count < 2:
        yield from _counted(map(reduce_file, files), progress)
        return
    with working(start_workers(count), "a process that read traces") as pool:
        yield from _counted(pool.map(reduce_file, files), progress)


def read_on_cluster(
    files: Sequence[str], address: str, progress: Progress | None = None
) -> Iterator[Rank | BadRank]:
    """The summary of each file, in order, by the workers of a Dask cluster.

    The workers open the files themselves: paths must exist there, or be URLs. If a worker was lost
    or has no torchnav, the result is a BadRank.

    Raises:
        UsageError: Dask is not installed, or no scheduler responds at the address.
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
