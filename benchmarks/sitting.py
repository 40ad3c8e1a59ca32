"""A long session with the screen in one process: browsing, editing, traces, running programs.

    python -m benchmarks.sitting [--actions 5000] [--every 500] [--seed S]

Works on a copy of tests/tree and prints the process's memory, threads, descriptors and children at
intervals. They must not grow.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot

from navigator.trace.running import RunningProgram
from navigator.tui.app import TorchnavApp
from navigator.tui.config import Config
from navigator.tui.session import Opener
from navigator.tui.trace.recordings import RecordedFile, RecordedProgram, Recording
from navigator.tui.trace.screen import TraceScreen
from tests.navigator.trace.programs import RECORDER

TREE = Path(__file__).parents[1] / "tests" / "tree"
EDITED = "aten/src/ATen/native/BinaryOps.cpp"
_KEYS = (
    *("down", "down", "up", "pagedown", "pageup", "home", "end", "left", "right", "enter"),
    *("tab", "shift+tab", "escape", "escape", "backspace", "f1", "escape", "ctrl+o", "escape"),
    *("space", "slash", "escape", "n", "d", "b", "g", "escape", "c", "i", "u", "escape", "ctrl+r"),
    *(
        "T",
        "E",
        "D",
        "M",
        "I",
        "V",
        "B",
        "S",
        "G",
        "o",
        "v",
        "z",
        "f",
        "r",
        "y",
        "p",
        "0",
        "escape",
    ),
)
_TRACES = sorted((TREE.parent / "data" / "traces").glob("*.json.gz"))
_PROGRAM = """import torch
x = torch.ones(3, requires_grad=True)
for _ in range(300):
    (x * 2).sum().backward()
"""
_NAMES = ("add", "mul", "relu", "softmax", "linear", "cat", "mean", "cumsum", "nothing")


@dataclass(frozen=True, slots=True)
class Held:
    """The resources of the process."""

    actions: int
    seconds: float
    memory: int
    """Bytes."""
    threads: int
    files: int
    children: int

    def row(self) -> str:
        """As a row of a table."""
        cells = (f"{self.actions:,}", f"{self.seconds:,.0f}", f"{self.memory >> 20:,}")
        return f"| {' | '.join((*cells, str(self.threads), str(self.files), str(self.children)))} |"


def held(actions: int, started: float) -> Held:
    """The present resources, from Linux."""
    gc.collect()
    status = Path("/proc/self/status").read_text().splitlines()
    facts = dict(line.split(":", 1) for line in status)
    own = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    seconds, memory = time.monotonic() - started, int(facts["VmRSS"].split()[0]) * 1024
    files = len(os.listdir("/proc/self/fd"))
    return Held(actions, seconds, memory, int(facts["Threads"]), files, len(own))


async def sitting(folder: Path, actions: int, every: int, seed: int) -> list[Held]:
    """Random actions; yields the resources at the start and after each interval."""
    chance, tree = random.Random(seed), Path(shutil.copytree(TREE, folder / "pytorch"))
    app = TorchnavApp(Opener(str(tree), folder / "cache"), Config())
    found: list[Held] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause(3)
        started = time.monotonic()
        for number in range(actions + 1):
            if number % every == 0:
                found.append(held(number, started))
                print(found[-1].row(), flush=True)
            await _act(pilot, chance, tree)
            if not app.is_running:
                raise SystemExit("the screen ended")
    return found


async def _look_at(pilot: Pilot[int], chance: random.Random, recording: Recording) -> None:
    app = pilot.app
    assert isinstance(app, TorchnavApp)
    screen = TraceScreen(app.context, recording)
    await app.push_screen(screen)
    for _ in range(10):
        await pilot.press(chance.choice(_KEYS))
        await pilot.pause(0.05)
    while recording.program is not None and recording.program.is_running:
        await pilot.press(chance.choice(_KEYS))
        await pilot.pause(0.2)
    while screen in app.screen_stack:
        await app.pop_screen()


async def _follow(pilot: Pilot[int], chance: random.Random, folder: Path) -> None:
    (folder / "program.py").write_text(_PROGRAM)
    file = folder / f"{chance.random()}.json"
    program = RunningProgram(
        [sys.executable, str(RECORDER), "-o", str(file), "--", str(folder / "program.py")]
    )
    await _look_at(pilot, chance, RecordedProgram(file, program, "program.py"))
    file.unlink()


async def _act(pilot: Pilot[int], chance: random.Random, tree: Path) -> None:
    what = chance.random()
    if what < 0.02:
        with (tree / EDITED).open("a") as file:
            file.write(f"// {chance.random()}\n")
        await pilot.press("ctrl+r")
    elif what < 0.03:
        await _look_at(pilot, chance, RecordedFile(chance.choice(_TRACES)))
    elif what < 0.033:
        await _follow(pilot, chance, tree.parent)
    elif what < 0.1:
        await pilot.press("escape", *chance.choice(_NAMES), "enter")
    else:
        await pilot.press(chance.choice(_KEYS))
    await pilot.pause(0.01)


def main() -> int:
    """The command line; returns 1 if resources grow."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--actions", type=int, default=5000)
    parser.add_argument("--every", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("| actions | s | memory, MB | threads | files | children |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="torchnav-sitting") as folder:
        given = (Path(folder), options.actions, options.every, options.seed)
        found = asyncio.run(sitting(*given))
    middle, last = found[len(found) // 2], found[-1]
    grown = last.memory > 1.15 * middle.memory or last.files > middle.files + 3
    more = last.threads > middle.threads + 3 or last.children > middle.children + 2
    print("it grows" if grown or more else "flat in its second half")
    return grown or more


if __name__ == "__main__":
    sys.exit(main())
