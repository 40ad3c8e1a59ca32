"""One table of how hard torchnav is to break.

    python -m benchmarks.hardness [--seconds 600] [--seed S] [--native LIBRARY]

Runs the fuzzer and the faults, each for a share of the seconds, interrupts of every command, the
thirty programs, a session with as many actions as seconds, and the tests of hostile checkouts and
texts; prints the results with their limits.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.faults import FAULTS, outcomes
from benchmarks.fuzz.running import run_target
from benchmarks.fuzz.targets import targets
from benchmarks.interrupts import COMMANDS, results
from benchmarks.programs import PROGRAMS, differences
from benchmarks.sitting import sitting

_TESTS = {
    "git's configuration, every key with a program": (
        "tests/navigator/cli/test_hostile_checkout.py",
        "tests/navigator/test_hostile_checkout_faces.py",
    ),
    "hostile texts through every face": ("tests/navigator/test_hostile_texts.py",),
    "random edits against a cold build": ("tests/indexes/build/test_edits.py",),
}


def rows(seconds: float, seed: int, native: str | None) -> Iterator[tuple[str, str, str]]:
    """What was tested, the limit, and the result."""
    share = seconds / 3
    yield from _fuzzed(share, seed)
    for one in outcomes([*FAULTS], 500, seed, share):
        yield one.name, "0 wrong", f"{one.count} times, {len(one.wrong)} wrong"
    seen = [*results([*COMMANDS], 1, seed)]
    late = [words for one in seen for words in one.wrong]
    yield "ctrl+c", "within 1 s", f"{sum(one.count for one in seen)} times, {len(late)} wrong"
    recorders: list[tuple[str, ...]] = [(), *([("--native", native)] if native else [])]
    same = [not wrong for _, wrong in differences([*PROGRAMS], recorders)]
    yield "traced programs as without us", f"{len(same)}", f"{sum(same)} of {len(same)}"
    yield "memory of a sitting", "flat", _sat(int(seconds), seed)
    for name, paths in _TESTS.items():
        command = [sys.executable, "-m", "pytest", "-q", *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        yield name, "0 failed", (done.stdout.strip().splitlines() or ["no tests"])[-1]


def _sat(actions: int, seed: int) -> str:
    with tempfile.TemporaryDirectory(prefix="torchnav-sitting") as folder:
        found = asyncio.run(sitting(Path(folder), actions, max(actions // 10, 1), seed))
    return ", ".join(f"{one.memory >> 20}" for one in found) + " MB"


def _fuzzed(seconds: float, seed: int) -> Iterator[tuple[str, str, str]]:
    names = [*targets()]
    found = [run_target(name, seed, 10**9, seconds / len(names)) for name in names]
    count, finds = sum(one.executions for one in found), sum(len(one.finds) for one in found)
    least = min(one.executions for one in found)
    slowest = max(one.slowest_s for one in found)
    peak = max(one.peak for one in found) >> 20
    yield (
        f"executions over {len(names)} readers",
        "10,000,000, no find",
        f"{count:,}, {least:,} at least of each, {finds} finds, {slowest:.1f} s, {peak:,} MB",
    )


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--native", metavar="LIBRARY", help="the compiled recorder")
    options = parser.parse_args()
    print("| what | bar | seen |\n|---|---|---|")
    for row in rows(options.seconds, options.seed, options.native):
        print(f"| {' | '.join(row)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
