"""Somebody follows a program on the screen while it runs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from navigator.trace.running import RunningProgram
from navigator.tui.chain.chain_pane import ChainPane
from navigator.tui.session import Opener
from navigator.tui.trace.detail import TraceDetail
from navigator.tui.trace.output_log import Answer, OutputLog
from navigator.tui.trace.recordings import RecordedProgram
from tests.navigator.trace.programs import RECORDER
from tests.navigator.trace.sitting import screen_of, sit
from tests.navigator.tui.conftest import Person

TEN_LINES = """\
import torch

print("name?")
name = input()
x = torch.randn(4, 8, requires_grad=True)
y = x.mul(x)
loss = y.sum()
loss.backward()
print("hello", name)
"""


@asynccontextmanager
async def running(
    opener: Opener, folder: Path, text: str, width: int = 120, height: int = 40
) -> AsyncIterator[tuple[Person, RunningProgram]]:
    (folder / "program.py").write_text(text)
    file = folder / "trace.json"
    program = RunningProgram(
        [sys.executable, str(RECORDER), "-o", str(file), "--", str(folder / "program.py")]
    )
    try:
        recording = RecordedProgram(file, program, "program.py")
        async with sit(opener, recording, width, height) as person:
            yield person, program
    finally:
        program.stop()


async def test_a_program_is_followed_while_it_runs(opener: Opener, tmp_path: Path) -> None:
    async with running(opener, tmp_path, TEN_LINES) as (person, program):
        await person.sees("name?")
        assert program.is_running
        await person.pilot.click("#stdin")
        await person.types("you")
        await person.presses("enter")
        await person.sees("torch.Tensor.mul", "program.py:6", "backward", "hello you")
        await person.sees("ended with status 0")
        screen = screen_of(person)
        await person.until(lambda: screen.pane.trace and screen.pane.trace.meta.complete)
        assert screen.pane.trace is not None
        assert "MulBackward0" in {op.name for op in screen.pane.trace.ops()}


ASKING = """\
import getpass, sys
import torch

for step in range(3):
    print(f"\\rstep {step} of 3", end="")
print()
name = input("your name? ")
print("hello", name)
print("of", len(getpass.getpass("password: ")))
torch.ones(2).add(1)
print("read", repr(sys.stdin.read()))
"""


async def test_a_program_that_asks_is_answered(opener: Opener, tmp_path: Path) -> None:
    async with running(opener, tmp_path, ASKING, 80, 24) as (person, _):
        screen = screen_of(person)
        await person.sees("step 2 of 3", "your name?", "waits for input")
        assert "step 1 of 3" not in person.screen()
        await person.presses("tab")
        await person.types("you")
        await person.presses("enter")
        await person.sees("hello you", "password:")
        line = screen.query_one(Answer)
        await person.until(lambda: line.password, "what is typed for a password is not shown")
        await person.presses("escape", "a")
        await person.types("secret")
        await person.presses("enter")
        await person.sees("of 6")
        assert "secret" not in person.screen()
        await person.until(lambda: screen.query_one(OutputLog).asks)
        assert not line.password
        await person.types("some")
        await person.presses("ctrl+d", "ctrl+d")
        await person.until(lambda: screen.query_one(OutputLog).status == 0)
        await person.sees("read 'some'")


ENDLESS = """\
import time
import torch

torch.ones(2).add(1)
while True:
    try:
        print("working")
        time.sleep(60)
    except KeyboardInterrupt:
        print("not yet")
"""


async def test_ctrl_c_interrupts_the_program_and_then_ends_the_screen(
    opener: Opener, tmp_path: Path
) -> None:
    async with running(opener, tmp_path, ENDLESS) as (person, program):
        await person.sees("working")
        await person.presses("ctrl+c")
        await person.sees("not yet")
        assert program.is_running
        await person.presses("ctrl+c")
        await person.until(lambda: person.app.return_value == 128 + 15, "the end of the screen")
        assert not program.is_running


async def test_the_input_of_a_program_that_reads_nothing_never_blocks(tmp_path: Path) -> None:
    sleeps = "import time; print('ready', flush=True); time.sleep(60)"
    program = RunningProgram([sys.executable, "-c", sleeps])
    try:
        assert b"ready" in program.read()
        program.type("x" * 1_000_000)
        assert program.is_running
        program.interrupt()
        while program.read():  # the echo of what was typed, then its traceback
            pass
        assert program.wait() == -2
    finally:
        program.stop()


def test_the_terminal_of_a_program_that_ended_is_closed() -> None:
    program = RunningProgram([sys.executable, "-c", "print('said')"])
    terminal, said = program._terminal, b""
    while data := program.read():
        said += data
    assert (said, program.wait()) == (b"said\r\n", 0)
    end = time.monotonic() + 60
    with pytest.raises(OSError, match="Bad file descriptor"):  # noqa: PT012
        while time.monotonic() < end:
            os.fstat(terminal)
            time.sleep(0.01)
    assert program.read() == b""
    assert program.hides_input is False


async def test_in_few_rows_the_output_makes_room_at_the_end(opener: Opener, tmp_path: Path) -> None:
    text = TEN_LINES.replace("input()", "'you'")
    async with running(opener, tmp_path, text, 80, 24) as (person, _):
        screen = screen_of(person)
        await person.until(lambda: not screen.query_one(OutputLog).display)
        await person.sees("Tensor.backward")
        await person.until(lambda: screen.query_one(ChainPane).region.height > 0)
        rows, detail = screen.pane.ops, screen.query_one(TraceDetail)
        await person.until(lambda: rows.size.height + detail.size.height >= 9)  # 3 or 4 of detail
        await person.presses("O")
        await person.sees("hello you")
        await person.until(lambda: screen.query_one(ChainPane).region.height == 0)


async def test_in_few_rows_the_output_of_a_failure_stays(opener: Opener, tmp_path: Path) -> None:
    async with running(opener, tmp_path, "raise ValueError('no')", 80, 24) as (person, _):
        await person.sees("ended with status 1", "ValueError: no")
