"""One table of how hard torchnav is to break.

    python -m benchmarks.hardness [--seconds 600] [--seed S] [--native LIBRARY]

Runs the fuzzer, the faults, the thirty programs and the tests of hostile checkouts and texts,
each within a share of the seconds, and prints what came of them beside the bar.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.faults import FAULTS, outcomes
from benchmarks.fuzz.running import run_target
from benchmarks.fuzz.targets import targets
from benchmarks.programs import PROGRAMS, differences

_TESTS = {
    "git's configuration, every key with a program": "tests/navigator/cli/test_hostile_checkout.py",
    "hostile texts through every face": "tests/navigator/test_hostile_texts.py",
    "random edits against a cold build": "tests/indexes/build/test_edits.py",
}


def rows(seconds: float, seed: int, native: str | None) -> Iterator[tuple[str, str, str]]:
    """What, its bar, and what was seen."""
    share = seconds / 3
    yield from _fuzzed(share, seed)
    for one in outcomes([*FAULTS], 500, seed, share):
        yield one.name, "0 wrong", f"{one.count} times, {len(one.wrong)} wrong"
    recorders: list[tuple[str, ...]] = [(), *([("--native", native)] if native else [])]
    same = [not wrong for _, wrong in differences([*PROGRAMS], recorders)]
    yield "traced programs as without us", f"{len(same)}", f"{sum(same)} of {len(same)}"
    for name, path in _TESTS.items():
        command = [sys.executable, "-m", "pytest", "-q", path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        yield name, "0 failed", (done.stdout.strip().splitlines() or ["no tests"])[-1]


def _fuzzed(seconds: float, seed: int) -> Iterator[tuple[str, str, str]]:
    names = [*targets()]
    found = [run_target(name, seed, 10**9, seconds / len(names)) for name in names]
    count, finds = sum(one.executions for one in found), sum(len(one.finds) for one in found)
    slowest = max(one.slowest_s for one in found)
    peak = max(one.peak for one in found) >> 20
    yield (
        f"executions over {len(names)} readers",
        "10,000,000, no find",
        f"{count:,}, {finds} finds, the slowest {slowest:.1f} s of CPU, {peak:,} MB at most",
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
