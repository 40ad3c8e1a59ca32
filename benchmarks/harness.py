"""How figures are measured: our runs alternate with the baseline's; the result is the median ratio.

A module of figures has a function ``figures(bench)`` that yields Comparisons; add its name
to ``benchmarks.__main__.MODULES``.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

What = Literal["cpu", "wall", "peak", "disk"]


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one run, including child processes."""

    cpu: float = 0.0
    """Seconds, user and system."""
    wall: float = 0.0
    """Seconds."""
    peak: float = 0.0
    """Memory of the largest process in MiB."""
    disk: float = 0.0
    """Size of its files on disk in MB."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the table. ``scale`` None makes it a ratio to the baseline; a number makes
    it a value of our run alone, in units of which one second or MiB holds ``scale``."""

    name: str
    bar: float | None
    what: What = "wall"
    unit: str = "x"
    scale: float | None = None
    percentile: int = 50


@dataclass(frozen=True, slots=True)
class Comparison:
    """Our runs, alternating with those of a baseline, and the figures from them."""

    figures: Sequence[Figure]
    ours: Callable[[], Cost | list[Cost]]
    """One run; several costs if it repeats something."""
    baseline: str = ""
    theirs: Callable[[], Cost] | None = None
    runs: int = 5


@dataclass(slots=True)
class Bench:
    """The measured tree, and a cache folder for the benchmark."""

    tree: Path
    cache: Path
    runs: int
    """Number of cold builds; quick things run more often."""
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.environment = {**os.environ, "TORCHNAV_CACHE": str(self.cache), **self.environment}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has bytecode

    @property
    def several(self) -> int:
        """Number of runs for things that take well under a second."""
        return max(15, self.runs)

    def torchnav(
        self, *arguments: str, tree: Path | None = None, ends_with: Sequence[int] = (0,)
    ) -> Callable[[], Cost]:
        """A run of the command line in a process of its own, as its console script does it."""
        start = "from navigator.cli.main import run; run()"
        given = ("--tree", str(tree or self.tree))
        return self.command([sys.executable, "-c", start, *given, *arguments], tree, ends_with)

    def command(
        self, command: Sequence[str], cwd: Path | None = None, ends_with: Sequence[int] = (0,)
    ) -> Callable[[], Cost]:
        """A run of any command, that ends with one of some exit codes."""
        return lambda: run(command, cwd or self.tree, self.environment, ends_with)

    def ripgrep(self) -> Callable[[], Cost]:
        """Ripgrep of one word over the C++ sources."""
        folders = ("aten", "c10", "torch/csrc")
        return self.command(("rg", "-nF", "upsample_bilinear2d_out", *folders))


def run(
    command: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    ends_with: Sequence[int] = (0,),
) -> Cost:
    """Runs a command to its end with its output in a file. Raises CalledProcessError."""
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=cwd, env=environment, stdout=output, stderr=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ends_with:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / _RSS_OF_MIB)


_RSS_OF_MIB = 2**20 if sys.platform == "darwin" else 2**10


@contextmanager
def copied(bench: Bench) -> Iterator[Path]:
    """A copy of the files that are indexed, to edit."""
    import shutil

    from indexes.source.source import Source

    with tempfile.TemporaryDirectory(prefix="torchnav-benchmark") as folder:
        for file in Source.find(str(bench.tree)).files():
            target = Path(folder, file.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(bench.tree / file.path, target)
        yield Path(folder)


# ------------------------------------------------------------------------------- table


def measured(comparison: Comparison) -> list[str]:
    """Runs a comparison; the lines of its figures."""
    ours: list[list[Cost]] = []
    theirs: list[Cost] = []
    for _ in range(comparison.runs):
        taken = comparison.ours()
        ours.append(taken if isinstance(taken, list) else [taken])
        if comparison.theirs:
            theirs.append(comparison.theirs())
    return [_line(figure, comparison, ours, theirs) for figure in comparison.figures]


def _line(
    figure: Figure, comparison: Comparison, ours: list[list[Cost]], theirs: list[Cost]
) -> str:
    mine = [percentile([_of(c, figure) for c in one], figure.percentile) for one in ours]
    if figure.scale is not None:
        values = [value * figure.scale for value in mine]
        return table_line(figure, values, "")
    other = [_of(c, figure) for c in theirs]
    ratios = [a / b for a, b in zip(mine, other, strict=True)]
    beside = f"{_amount(mine, figure)} to {_amount(other, figure)}: {comparison.baseline}"
    return table_line(figure, ratios, beside)


def table_line(figure: Figure, values: Sequence[float], beside: str) -> str:
    """One line of the table: median and spread, the bar, whether it is met."""
    median, low, high = statistics.median(values), min(values), max(values)
    shown = f"{median:8.2f}{figure.unit:3} [{low:.2f}-{high:.2f}]"
    bar = "" if figure.bar is None else f"{figure.bar:g}{figure.unit}"
    met = "" if figure.bar is None else "met" if median <= figure.bar else "NOT MET"
    return f"{figure.name:52} {shown:29} {bar:>7}  {met:8} {beside}".rstrip()


def percentile(values: Sequence[float], wanted: int) -> float:
    """The value that ``wanted`` of a hundred values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * wanted // 100)]


def _of(cost: Cost, figure: Figure) -> float:
    return float(getattr(cost, figure.what))


def _amount(values: Sequence[float], figure: Figure) -> str:
    median = statistics.median(values)
    return (
        f"{median:,.0f} MiB" if figure.what == "peak" else f"{median * 1e3:,.0f} ms {figure.what}"
    )


HEADER = f"{'figure':52} {'median [least-most]':29} {'bar':>7}  {'':8} beside"
