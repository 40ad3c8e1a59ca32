"""Feeds mutated inputs to every reader, and prints the results.

    python -m benchmarks.fuzz [--reader NAME] [--executions N] [--seed S] [--seconds S]

Each reader must answer or raise a one-line error of torchnav. Another error, a hang of 5 s or 1.5
GB of memory is a finding. ``--growth`` measures how time grows with size instead.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.fuzz.growth import growth_rows
from benchmarks.fuzz.running import Result, run_target
from benchmarks.fuzz.targets import targets

_COLUMNS = ("reader", "executions", "a second", "finds", "slowest, ms of CPU", "peak, MB")
HEADER = f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}"


def main() -> int:
    """The command line; returns 1 if something was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--reader", action="append", choices=sorted(targets()), help="may be given again"
    )
    parser.add_argument("--executions", type=int, default=10**9, help="of each reader, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each reader, at most")
    parser.add_argument("--keep", type=Path, help="a folder for inputs that broke a reader")
    parser.add_argument("--growth", action="store_true", help="time at doubling sizes")
    options = parser.parse_args()
    names = options.reader or list(targets())
    if options.growth:
        for row in growth_rows(names):
            print(row, flush=True)
        return 0
    print(HEADER)
    results = [*_run(names, options)]
    for line in _finds(results, options.keep):
        print(line)
    print(total(results))
    return any(one.finds for one in results)


def _run(names: list[str], options: argparse.Namespace) -> Iterator[Result]:
    for name in names:
        result = run_target(name, options.seed, options.executions, options.seconds)
        rate = result.executions / max(result.seconds, 1e-9)
        cells = (name, f"{result.executions:,}", f"{rate:,.0f}", str(len(result.finds)))
        more = (f"{1000 * result.slowest_s:,.0f}", f"{result.peak >> 20:,}")
        print(f"| {' | '.join((*cells, *more))} |", flush=True)
        yield result


def _finds(results: list[Result], keep: Path | None) -> Iterator[str]:
    for result in results:
        for at, find in enumerate(result.finds):
            yield f"{result.target} #{find.number}: {find.what}: {find.data[:300]!r}"
            if keep:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{result.target.replace(' ', '-')}-{at}").write_bytes(find.data)


def total(results: list[Result]) -> str:
    """A summary of all results in one line."""
    executions = sum(one.executions for one in results)
    finds = sum(len(one.finds) for one in results)
    slowest = max((one.slowest_s for one in results), default=0.0)
    peak = max((one.peak for one in results), default=0) >> 20
    return (
        f"{executions:,} executions of {len(results)} readers: {finds} finds, the slowest"
        f" {slowest:.2f} s of CPU, {peak:,} MB at most"
    )


if __name__ == "__main__":
    sys.exit(main())
