"""Whether the tests hold on a busy machine.

    python -m benchmarks.busy [--times 10] [--loops 4] [-- -k names]

Runs the whole test suite beside processes that never wait, one run after another, and prints for
each its last line, its time and the tests that failed. What follows ``--`` goes to pytest.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

_LOOP = "while True: pass"


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keeps processors busy with as many processes."""
    started = [subprocess.Popen([sys.executable, "-c", _LOOP]) for _ in range(loops)]
    try:
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


def tested(arguments: Sequence[str]) -> tuple[bool, str, list[str]]:
    """Whether all tests passed, the last line of pytest, and those that failed."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or [""]
    failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return done.returncode == 0, lines[-1], failed


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--loops", type=int, default=4)
    parser.add_argument("arguments", nargs="*", help="for pytest")
    given = parser.parse_args()
    green = 0
    for number in range(1, given.times + 1):
        start = time.monotonic()
        with busy(given.loops):
            passed, last, failed = tested(given.arguments)
        green += passed
        print(
            f"{number}. {last}, {time.monotonic() - start:.0f} s", *failed, sep="\n   ", flush=True
        )
    print(f"{green} of {given.times} green")
    return 0 if green == given.times else 1


if __name__ == "__main__":
    raise SystemExit(main())
