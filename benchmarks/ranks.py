"""Comparing traces of many ranks: by local processes, a Dask cluster, and from the cache.

The baseline parses the same files with orjson, the fastest JSON parser, one after the other.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.harness import Bench, Comparison, Cost, Figure
from benchmarks.synthesis import write_ranks

NEEDS = ()
_COUNTS = (16, 64, 256)
_EVENTS = 20_000
_STRAGGLER = 11
_WORKERS = 4
_THOUSANDS = 4_096
_PARSE_ALL = """\
import sys, orjson
from pathlib import Path
for path in Path(sys.argv[1]).iterdir():
    orjson.loads(path.read_bytes())
"""
_CLUSTER = """\
import sys, distributed
if __name__ == "__main__":
    workers = int(sys.argv[1])
    with distributed.LocalCluster(workers, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""
_JOIN = """\
import sys
from dataclasses import replace
from pathlib import Path
from navigator.trace.model import Rank
from navigator.trace.ranks.reduce import reduce_file
from navigator.trace.ranks.stored import complete
from navigator.trace.ranks.summary import summarise

trace, folder, count, kept = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
folder.mkdir(exist_ok=True)
files = [folder / f"{number}.json" for number in range(count)]
made = reduce_file(trace)
def ranks(files):
    for file in files:
        totals = tuple(replace(one) for one in made.totals)
        yield replace(made, number=int(Path(file).stem), path=str(file), totals=totals)
if kept:
    [file.touch() for file in files if not file.exists()]
    summary = summarise(complete(folder / "kept", list(map(str, files)), ranks))
else:
    summary = summarise(ranks(files))
assert len(summary.ranks) == count and summary.spreads[0].ranks == count
"""
"""Number of ranks with the numbers of one, compared in memory and from the cache."""


def figures(bench: Bench) -> Iterator[Comparison]:
    """Three sizes of runs by local processes; the largest by a cluster, and once more;
    thousands."""
    with tempfile.TemporaryDirectory(prefix="torchnav-benchmark") as folder:
        for count in _COUNTS:
            traces = Path(folder, str(count))
            write_ranks(traces, count, _EVENTS, _STRAGGLER)
            yield _compared(bench, traces, f"{count} ranks, {_megabytes(traces)} MB")
        with _cluster(bench) as address:
            name = f"{_COUNTS[-1]} ranks, {_WORKERS} workers of Dask"
            yield _compared(bench, traces, name, "--cluster", address)
        bench.torchnav("ranks", str(traces))()
        again = bench.torchnav("ranks", str(traces), "--json")
        yield Comparison(_amounts(f"{_COUNTS[-1]} ranks, as they are kept"), again, runs=1)
        yield from _joined(bench, traces / "rank0.json", Path(folder, "join"))


def _compared(bench: Bench, traces: Path, name: str, *options: str) -> Comparison:
    def fresh() -> Cost:
        with tempfile.TemporaryDirectory(prefix="torchnav-benchmark") as cache:
            return bench.torchnav("ranks", str(traces), "--cache", cache, "--json", *options)()

    parse = bench.command((sys.executable, "-c", _PARSE_ALL, str(traces)))
    ratios = (Figure(name, None), Figure("  the same, CPU", None, "cpu"))
    return Comparison((*ratios, *_amounts("")), fresh, "orjson, one after the other", parse, 1)


def _joined(bench: Bench, trace: Path, folder: Path) -> Iterator[Comparison]:
    """Thousands of summaries compared."""
    command = (sys.executable, "-c", _JOIN, str(trace), str(folder), str(_THOUSANDS))
    for name, kept in ((f"{_THOUSANDS} reductions, in memory", ()), ("  kept", ("kept",))):
        if kept:
            bench.command((*command, *kept))()
        yield Comparison(_amounts(name), bench.command((*command, *kept)), runs=1)


def _amounts(name: str) -> tuple[Figure, ...]:
    return (
        Figure(f"{name}  wall", None, "wall", " s", 1.0),
        Figure("  CPU", None, "cpu", " s", 1.0),
        Figure("  largest process", None, "peak", " MB", 1.0),
    )


def _megabytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir()) >> 20


@contextmanager
def _cluster(bench: Bench) -> Iterator[str]:
    """The address of a scheduler with workers on this machine."""
    command = [sys.executable, "-c", _CLUSTER, str(_WORKERS)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=bench.environment
    )
    with process:
        assert process.stdout
        assert process.stdin
        yield process.stdout.readline().strip()
        process.stdin.close()
