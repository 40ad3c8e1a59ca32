"""Injects faults at random points: the index must stay whole, no files may be left, no traceback
may appear.

    python -m benchmarks.faults [--each 500] [--seed S] [--seconds S] [--only kills,disk]

Works on copies of tests/tree: builds, refreshes and imports are killed or get a signal (TERM, INT,
HUP); full disks, read-only caches, no memory, no processes; eight builders and readers at once;
wrong clocks; closed or full streams.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.indexing import contents

TREE = Path(__file__).parents[1] / "tests" / "tree"
EDITED = "aten/src/ATen/native/BinaryOps.cpp"
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_EXITS = (0, 1, 3, 130, -signal.SIGKILL, *(-one for one in _SIGNALS))
_PATIENCE_S = 60
OURS = re.compile(r"Traceback(.|\n)*File \".*/(navigator|indexes)/|Exception ignored")


@dataclass(slots=True)
class Outcome:
    """The result of one kind of fault."""

    name: str
    count: int = 0
    wrong: list[str] = field(default_factory=list)


class Bench:
    """A tree, a cache with its index, and a shared index of it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.chance = folder, random.Random(seed)
        self.tree = Path(shutil.copytree(TREE, folder / "pytorch"))
        self.cache = folder / "cache"
        self.shared = folder / "shared.index"
        begun = time.monotonic()
        assert self.run("index").returncode == 0
        self.cold_s = time.monotonic() - begun
        assert self.run("index", "--export", str(self.shared)).returncode == 0
        self.wanted = self.run("op", "add.Tensor", "--json").stdout
        self.at_start = self.files()

    def start(
        self, *words: str, prepare: Callable[[], None] | None = None, python: tuple[str, ...] = ()
    ) -> subprocess.Popen[str]:
        """Start a torchnav command on the tree."""
        given = ["--tree", str(self.tree), "--cache", str(self.cache)]
        return subprocess.Popen(
            [sys.executable, *python, "-m", "navigator", *given, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=prepare,  # noqa: PLW1509  there is one thread
            start_new_session=True,
        )

    def run(
        self, *words: str, prepare: Callable[[], None] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a torchnav command on the tree."""
        process = self.start(*words, prepare=prepare)
        out, err = process.communicate(timeout=_PATIENCE_S)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def edit(self) -> None:
        """Change the tree, so that a refresh has work to do."""
        with (self.tree / EDITED).open("a") as file:
            file.write(f"// {self.chance.random()}\n")

    def choice(self) -> tuple[str, ...]:
        """A command that writes: a cold build, a refresh, a rebuild, an import."""
        number = self.chance.randrange(4)
        if number == 0:
            shutil.rmtree(self.cache, ignore_errors=True)
        self.edit()
        return (
            ("index",),
            ("index",),
            ("index", "--force"),
            ("index", "--import", str(self.shared)),
        )[number]

    def damaged(self) -> Iterator[str]:
        """SQLite's verdict on a copy of the index: its journal must stay."""
        for path in self.indexes():
            for part in path.parent.glob(f"{path.name}*"):
                if part.is_file():
                    shutil.copyfile(part, self.folder / part.name)
            with contextlib.closing(sqlite3.connect(self.folder / path.name)) as database:
                if (said := database.execute("PRAGMA quick_check(1)").fetchall()) != [("ok",)]:
                    yield f"{path.name} is damaged: {said}"

    def indexes(self) -> list[Path]:
        """The index, if there is one."""
        return list((self.cache / "indexes").glob("*.db"))

    def wrong(self) -> Iterator[str]:
        """Problems: after a refresh, the rows must be those of a new build."""
        refreshed = self.rows_after("index")
        if refreshed != self.rows_after("index", "--force"):
            yield "the refreshed index is not that of a build anew"
        done = self.run("index")
        if done.returncode or done.stderr:
            yield f"the next build says {done.returncode} {done.stderr.strip()[-200:]}"
        if left := self.files() - self.at_start:
            yield f"left behind: {', '.join(sorted(left))}"

    def files(self) -> set[str]:
        """The names of the cache's files."""
        return {one.name for one in self.cache.rglob("*") if one.is_file()}

    def rows_after(self, *words: str) -> object:
        """The rows of the index after an undisturbed command."""
        self.run(*words)
        return [contents(path) for path in self.indexes()]

    def answers_as_before(self) -> Iterator[str]:
        """Whether an operator's chain is unchanged since the start."""
        shutil.copyfile(TREE / EDITED, self.tree / EDITED)
        done = self.run("op", "add.Tensor", "--json")
        if done.stdout != self.wanted:
            yield "an answer is another than before"


def kills(bench: Bench, each: int, until: float) -> Iterator[Outcome]:
    """Kills at random points."""
    yield _ended(bench, each, until, "kills while an index is written", (signal.SIGKILL,))


def signals(bench: Bench, each: int, until: float) -> Iterator[Outcome]:
    """Signals at random points."""
    yield _ended(bench, each, until, "signals while an index is written", _SIGNALS)


def _ended(
    bench: Bench, each: int, until: float, name: str, hows: tuple[signal.Signals, ...]
) -> Outcome:
    outcome = Outcome(name)
    while outcome.count < each and time.monotonic() < until:
        words, how = bench.choice(), bench.chance.choice(hows)
        process = bench.start(*words)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(bench.chance.uniform(0.0, 1.2 * bench.cold_s))
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(how)
        _, said = process.communicate(timeout=_PATIENCE_S)
        outcome.count += 1
        _note(outcome, f"{words[-1]} {how.name}", process.returncode, said)
        outcome.wrong += bench.damaged()
        if outcome.count % 10 == 0:
            outcome.wrong += bench.wrong()
    outcome.wrong += [*bench.wrong(), *bench.answers_as_before()]
    return outcome


def disk(bench: Bench, each: int, until: float) -> Iterator[Outcome]:
    """File size limits at random sizes."""
    outcome = Outcome("disk full at random sizes")
    largest = max(one.stat().st_size for one in (bench.cache / "indexes").glob("*.db"))
    while outcome.count < each and time.monotonic() < until:
        size = bench.chance.randrange(int(largest * 1.2))
        done = bench.run(*bench.choice(), prepare=partial(_limit, resource.RLIMIT_FSIZE, size))
        outcome.count += 1
        _note(outcome, f"limit of {size}", done.returncode, done.stderr)
        outcome.wrong += bench.damaged()
        if outcome.count % 10 == 0:
            outcome.wrong += bench.wrong()
    outcome.wrong += [*bench.wrong(), *bench.answers_as_before()]
    yield outcome


def limits(bench: Bench, each: int, until: float) -> Iterator[Outcome]:
    """Little memory, few descriptors, no more processes."""
    kinds = {
        "little memory": (resource.RLIMIT_AS, 60 << 20, 400 << 20),
        "few descriptors": (resource.RLIMIT_NOFILE, 4, 40),
        "no processes": (resource.RLIMIT_NPROC, 0, 3),
    }
    started = time.monotonic()
    for at, (name, (what, least, most)) in enumerate(kinds.items(), 1):
        outcome = Outcome(name)
        share = started + (until - started) * at / len(kinds)
        while outcome.count < max(each // 10, 1) and time.monotonic() < share:
            size = bench.chance.randrange(least, most)
            done = bench.run(*bench.choice(), prepare=partial(_limit, what, size))
            outcome.count += 1
            _note(
                outcome, f"limit of {size}", done.returncode, done.stderr, (*_EXITS, 127, -6, -11)
            )
        outcome.wrong += bench.wrong()
        yield outcome


def crowds(bench: Bench, each: int, until: float) -> Iterator[Outcome]:
    """Eight builders and readers at once, some of which are killed."""
    outcome = Outcome("eight builders and readers at once")
    while outcome.count < max(each // 10, 1) and time.monotonic() < until:
        running = [bench.start(*bench.choice()) for _ in range(4)]
        running += [bench.start("op", "add.Tensor", "--json") for _ in range(4)]
        time.sleep(bench.chance.uniform(0, bench.cold_s))
        bench.chance.choice(running[:4]).kill()
        for process in running:
            _, said = process.communicate(timeout=2 * _PATIENCE_S)
            _note(outcome, "one of eight", process.returncode, said)
        outcome.count += 1
    outcome.wrong += [*bench.wrong(), *bench.answers_as_before()]
    yield outcome


def clocks(bench: Bench, each: int, until: float) -> Iterator[Outcome]:
    """Files with times in the future, long ago, or right now."""
    outcome = Outcome("wrong clocks")
    while outcome.count < max(each // 10, 1) and time.monotonic() < until:
        bench.edit()
        stamp = bench.chance.choice((0, 1, 2**31, 2**33, time.time(), time.time() + 3600))
        for path in (bench.tree / EDITED, *(bench.cache / "indexes").glob("*.db")):
            os.utime(path, (stamp, stamp))
        done = bench.run("index")
        outcome.count += 1
        _note(outcome, f"time {stamp}", done.returncode, done.stderr, (0,))
        found = bench.run("at", f"{EDITED}:1").returncode
        if found not in (0, 1):
            outcome.wrong.append(f"time {stamp}: no answer")
    outcome.wrong += [*bench.wrong(), *bench.answers_as_before()]
    yield outcome


def read_only(bench: Bench, _each: int, _until: float) -> Iterator[Outcome]:
    """A cache of another user, by permissions: modes do not restrict root."""
    outcome = Outcome("a cache that can't be written")
    if os.geteuid() == 0:
        outcome.name += " (not as root)"
        yield outcome
        return
    folder = bench.cache / "indexes"
    folder.chmod(0o555)
    for words in (("index",), ("op", "add.Tensor"), ("index", "--force")):
        bench.edit()
        done = bench.run(*words)
        outcome.count += 1
        _note(outcome, words[-1], done.returncode, done.stderr)
    folder.chmod(0o755)
    outcome.wrong += bench.wrong()
    yield outcome


def traced(bench: Bench, each: int, until: float) -> Iterator[Outcome]:
    """Kills a recorded program at random points: its trace must be readable or missing."""
    outcome = Outcome("kills while a program is traced")
    program, file = bench.folder / "program.py", bench.folder / "trace.json"
    program.write_text("import torch\nx = torch.ones(3)\nfor _ in range(2000):\n    x = x + 1\n")
    while outcome.count < max(each // 10, 1) and time.monotonic() < until:
        file.unlink(missing_ok=True)
        process = bench.start("trace", "--no-screen", "-o", str(file), str(program))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(bench.chance.uniform(0.5, 8))
        how = bench.chance.choice((signal.SIGKILL, *_SIGNALS))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        _, said = process.communicate(timeout=_PATIENCE_S)
        outcome.count += 1
        ours = [line for line in said.splitlines() if "navigator/" in line and "File" in line]
        if ours:
            outcome.wrong.append(f"{how.name}: {ours[-1].strip()}")
        if file.exists() and file.stat().st_size:
            done = bench.run("export", "trace", str(file))
            _note(outcome, f"open after {how.name}", done.returncode, done.stderr)
    yield outcome


FAULTS = {
    "kills": kills,
    "signals": signals,
    "disk": disk,
    "limits": limits,
    "crowds": crowds,
    "clocks": clocks,
    "read_only": read_only,
    "traced": traced,
}


def _limit(what: int, size: int) -> None:
    resource.setrlimit(what, (size, size))


def _note(
    outcome: Outcome, what: str, status: int, said: str, exits: tuple[int, ...] = _EXITS
) -> None:
    if OURS.search(said):  # those of Python before it runs us are not ours to mend
        outcome.wrong.append(f"{what}: a traceback: {said.strip()[-300:]}")
    elif status not in exits:
        outcome.wrong.append(f"{what}: exit {status}: {said.strip()[-200:]}")


def outcomes(only: list[str], each: int, seed: int, seconds: float) -> Iterator[Outcome]:
    """The result of each kind of fault, with equal shares of the time."""
    for name in only:
        with tempfile.TemporaryDirectory(prefix="torchnav-faults") as folder:
            bench = Bench(Path(folder), seed)
            yield from FAULTS[name](bench, each, time.monotonic() + seconds / len(only))


def main() -> int:
    """The command line; returns 1 on problems."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--each", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3600.0, help="of all together")
    parser.add_argument("--only", default=",".join(FAULTS), help="kinds, with commas")
    options = parser.parse_args()
    # A shell starts what is to run in the background deaf to SIGINT, which children inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("| fault | times | wrong |\n|---|---|---|")
    wrong = []
    for one in outcomes(options.only.split(","), options.each, options.seed, options.seconds):
        print(f"| {one.name} | {one.count} | {len(one.wrong)} |", flush=True)
        wrong += [f"{one.name}: {words}" for words in one.wrong]
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
