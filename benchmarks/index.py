"""What indexing and asking cost, as ratios to other tools on the same tree in the same run.

    python benchmarks/index.py /path/to/pytorch [--runs 3]

Needs Universal Ctags and ripgrep. CPU is user + system time of a process and its
children; every figure is the median of interleaved runs.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("aten", "c10", "torch/csrc")
CTAGS = (
    "ctags", "-R", "--languages=C++", "--langmap=C++:+.cu.cuh.mm", "--kinds-C++=f",
    "--exclude=third_party", "-f", "-", *FOLDERS,
)  # fmt: skip
RIPGREP = ("rg", "-nF", "upsample_bilinear2d_out", *FOLDERS)
EDITED = "aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one run."""

    cpu: float
    wall: float


def run(command: Sequence[str], cwd: Path, environment: dict[str, str]) -> Cost:
    """Runs a command to its end, its output read and thrown away."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        capture_output=True,
        check=True,
    )
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, wall)


def torchnav(tree: Path, *arguments: str) -> list[str]:
    """A torchnav command line on a tree."""
    start = "from navigator.cli import main; main()"
    return [sys.executable, "-c", start, "--tree", str(tree), *arguments]


def compare(
    name: str, bar: str, ours: Callable[[], Cost], theirs: Callable[[], Cost], runs: int, what: str
) -> None:
    """Prints the median ratio of interleaved runs."""
    pairs = [(getattr(ours(), what), getattr(theirs(), what)) for _ in range(runs)]
    ratios = [mine / other for mine, other in pairs]
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    low, high = min(ratios), max(ratios)
    median = statistics.median(ratios)
    print(
        f"{name:42} {median:6.2f}x [{low:.2f}-{high:.2f}]  bar {bar:5}  "
        f"{mine:7.3f} s against {other:.3f} s ({what})",
        flush=True,
    )


def benchmark(tree: Path, runs: int) -> None:
    """All figures of a tree, with an index in a folder of its own."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TORCHNAV_CACHE": cache}

        def ours(*arguments: str) -> Callable[[], Cost]:
            return lambda: run(torchnav(tree, *arguments), tree, environment)

        def theirs(command: Sequence[str]) -> Callable[[], Cost]:
            return lambda: run(command, tree, environment)

        cold = ours("index", "--force")
        compare("cold index: CPU to ctags", "6", cold, theirs(CTAGS), runs, "cpu")
        compare("cold index: wall to ctags", "2.5", cold, theirs(CTAGS), runs, "wall")
        several = max(5, runs)
        search = theirs(RIPGREP)
        compare("nothing changed: wall to ripgrep", "1.5", ours("index"), search, several, "wall")
        for arguments in (("op", "add.Tensor", "--json"), ("find", "upsample_bil", "--json"),
                          ("at", f"{EDITED}:130", "--json")):  # fmt: skip
            name = f"{arguments[0]} {arguments[1]}"[:24]
            compare(f"{name}: wall to ripgrep", "1.5", ours(*arguments), search, several, "wall")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for tool in ("ctags", "rg"):
        if shutil.which(tool) is None:
            print(f"{tool} is not installed", file=sys.stderr)
            return 3
    benchmark(options.tree.resolve(), options.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
