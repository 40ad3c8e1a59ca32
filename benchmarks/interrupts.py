"""Ctrl-C at random points of every command: how long until it has ended.

    python -m benchmarks.interrupts [--each 5] [--seed S] [--tree TREE] [--only op,index]

The signal goes to the command and to what it started, as from a terminal. A command that takes
over a second to end, or ends with a traceback of ours, is told. The default tree is a copy of
tests/tree with a history.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.faults import EDITED, OURS
from tests.repositories import repository

BAR_S = 1.0
_PATIENCE_S = 60
_PROGRAM = "import torch\nx = torch.ones(3, requires_grad=True)\nloss = (x * 2).sum()\n"
_LONG = f"{_PROGRAM}for _ in range(20000):\n    y = x + 1\n"
_FAILS = f"{_PROGRAM}loss.backward()\nloss.backward()\ntorch.ones(2) @ torch.ones(3)\n"
COMMANDS = {
    "index": "index --force",
    "op": "op add.Tensor --full",
    "find": "find add",
    "at": f"at {EDITED}:43",
    "uses": "uses add_stub",
    "callers": "callers add_stub",
    "impact": f"impact {EDITED}",
    "affected": "affected --since v1",
    "table": "table add.Tensor",
    "key": "key CPU",
    "generated": "generated add.Tensor",
    "explain": "explain structured",
    "kernel": "kernel add_kernel",
    "map": "map aten",
    "tensorimpl": "tensorimpl",
    "engine": "engine",
    "inspect": "inspect FOLDER/program.py:x",
    "graph": "graph FOLDER/program.py:loss",
    "why": "why FOLDER/fails.py",
    "lab": "lab autograd_graph",
    "trace": "trace --no-screen -o FOLDER/made.json FOLDER/long.py",
    "export trace": "export trace TRACES/one.json.gz",
    "ranks": "ranks TRACES",
    "contribute": "contribute add.Tensor --history 9",
    "pr": "pr",
    "audit": "audit",
    "gaps": "gaps --age",
    "diff": "diff v1",
    "export": "export kernels",
    "site": "export site FOLDER/site",
    "share": "index --export FOLDER/shared.index",
    "clone": "clone v1 --url file://TREE",
    "mcp": "mcp",
    "completion": "completion bash",
    "doctor": "doctor",
}
"""``open`` and torchnav alone are screens, where ctrl+c is a key: tests/navigator/tui has that."""


@dataclass(slots=True)
class Seen:
    """What came of a command."""

    name: str
    count: int = 0
    slowest_s: float = 0.0
    wrong: list[str] = field(default_factory=list)


class Place:
    """A tree with a history, programs, traces and a cache."""

    def __init__(self, folder: Path, tree: Path | None) -> None:
        self.folder, self.tree = folder, tree or repository(folder / "pytorch")
        if tree is None:
            with (self.tree / EDITED).open("a") as file:
                file.write("// more\n")
        for name, text in (("program", _PROGRAM), ("long", _LONG), ("fails", _FAILS)):
            (folder / f"{name}.py").write_text(text)
        (folder / "traces").mkdir()
        traces = sorted((Path(__file__).parents[1] / "tests/data/traces").glob("*.json.gz"))
        shutil.copyfile(traces[0], folder / "traces/one.json.gz")
        self.start("index").communicate()

    def start(self, words: str) -> subprocess.Popen[str]:
        """A command, in a process group of its own."""
        given = {"FOLDER": str(self.folder), "TRACES": str(self.folder / "traces")}
        given["TREE"] = str(self.tree)
        for name, value in given.items():
            words = words.replace(name, value)
        own = ["--tree", str(self.tree), "--cache", str(self.folder / "cache")]
        return subprocess.Popen(
            [sys.executable, "-m", "navigator", *own, *words.split()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def forget(self) -> None:
        """What commands keep, the index apart, so that they do their work again."""
        for path in (self.folder / "cache").glob("*"):
            if path.is_dir() and path.name != "indexes":
                shutil.rmtree(path)
        shutil.rmtree(self.folder / "site", ignore_errors=True)

    def lasts(self, words: str) -> float:
        """Seconds that a command takes, at most a minute."""
        self.forget()
        begun, process = time.monotonic(), self.start(words)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5 if words == "mcp" else _PATIENCE_S)
        taken = time.monotonic() - begun
        _kill(process)
        return taken


def interrupted(place: Place, name: str, each: int, chance: random.Random) -> Seen:
    """Interrupts a command so many times."""
    seen, words = Seen(name), COMMANDS[name]
    lasts = place.lasts(words)
    while seen.count < each:
        place.forget()
        process = place.start(words)
        after = chance.uniform(0.05, 1.05) * lasts
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
            continue  # it had ended
        _interrupt(seen, process, after)
    return seen


def _interrupt(seen: Seen, process: subprocess.Popen[str], after: float) -> None:
    begun = time.monotonic()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        seen.wrong.append(f"{seen.name}: not within {_PATIENCE_S} s")
    taken = time.monotonic() - begun
    _kill(process)
    said = process.communicate()[1]
    seen.count += 1
    seen.slowest_s = max(seen.slowest_s, taken)
    if taken > BAR_S:
        seen.wrong.append(f"{seen.name}: {taken:.1f} s, interrupted after {after:.1f} s")
    if OURS.search(said):
        seen.wrong.append(f"{seen.name}: {said.strip()[-400:]}")


def _kill(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def results(names: list[str], each: int, seed: int, tree: Path | None = None) -> Iterator[Seen]:
    """What came of each command."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # see benchmarks.faults
    with tempfile.TemporaryDirectory(prefix="torchnav-interrupts") as folder:
        place = Place(Path(folder), tree)
        for name in names:
            yield interrupted(place, name, each, random.Random(f"{seed} {name}"))


def main() -> int:
    """The command line; 1 where something was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--only", default=",".join(COMMANDS), help="commands, with commas")
    options = parser.parse_args()
    print("| command | interrupts | slowest, s | wrong |\n|---|---|---|---|")
    wrong: list[str] = []
    for one in results(options.only.split(","), options.each, options.seed, options.tree):
        print(f"| {one.name} | {one.count} | {one.slowest_s:.2f} | {len(one.wrong)} |")
        print(*one.wrong, sep="\n", flush=True)
        wrong += one.wrong
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
