"""Somebody looks at traces on the screen: a recorded one, a GPU profile, a running program."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from navigator.trace.running import RunningProgram
from navigator.tui.chain.chain_pane import ChainPane
from navigator.tui.config import Config
from navigator.tui.session import Opener
from navigator.tui.trace.app import TraceApp
from navigator.tui.trace.output_log import Answer, OutputLog
from navigator.tui.trace.recordings import RecordedFile, RecordedProgram, Recording
from navigator.tui.trace.screen import TraceScreen
from tests.navigator.trace.conftest import TRACES
from tests.navigator.trace.programs import RECORDER
from tests.navigator.tui.conftest import Person

LOOKS = Path(__file__).parent / "looks"
Story = Callable[[Person], Awaitable[None]]

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


@pytest.fixture
def opener(small_tree: tuple[str, ...], wheel_index: str) -> Opener:
    assert wheel_index == small_tree[3]
    return Opener(small_tree[1], Path(small_tree[3]))


@asynccontextmanager
async def sit(
    opener: Opener, recording: Recording, width: int = 120, height: int = 40
) -> AsyncIterator[Person]:
    app = TraceApp(opener, Config(), recording)
    async with app.run_test(size=(width, height), notifications=True) as pilot:
        yield Person(pilot)


def screen_of(person: Person) -> TraceScreen:
    screen = person.app.screen_stack[0]
    assert isinstance(screen, TraceScreen)
    return screen


def opened(file: Path) -> Recording:
    return RecordedFile(file)


async def test_a_backward_operator_leads_to_its_formula(opener: Opener, step_folder: Path) -> None:
    async with sit(opener, opened(step_folder / "trace.json")) as person:
        await person.sees("torch.nn.init.normal_")
        await person.types("/node:mulback op:mul.tensor")
        await person.sees("no row matches")
        await person.presses("escape", "escape")
        await person.types("/op:aten::mm")
        await person.sees("aten::mm")
        await person.presses("enter")
        await person.sees("AddmmBackward0", "gradient of aten::addmm", "mm_mat1_backward")
        await person.presses("u")
        await person.sees("55▎     loss.backward()")
        await person.until(lambda: "× " in person.line("loss.backward()"), "operators of the line")


async def test_a_gpu_profile_at_80_by_24(opener: Opener) -> None:
    async with sit(opener, opened(TRACES / "h100-bert-small.json.gz"), 80, 24) as person:
        await person.sees("ProfilerStep#6", "embedding bfloat16")
        await person.types("/op:aten::add")
        await person.sees("add bfloat16[1, 141, 512]")
        await person.presses("enter")
        await person.sees("cuda:0", "modeling_bert.py:181", "add.Tensor")
        await person.presses("i")
        await person.sees("NVIDIA H100", "capture_overload_names=True")
        await person.presses("escape", "v")
        await person.sees("· flat")


def pane_text(person: Person) -> str:
    """The characters of the trace pane, which do not depend on the tree."""
    region = screen_of(person).pane.region
    lines = person.screen().split("\n")[region.y : region.bottom]
    return "\n".join(line[region.x : region.right].rstrip() for line in lines) + "\n"


async def on_a_kernel(person: Person) -> None:
    await person.types("/op:aten::addmm")
    await person.sees("addmm bfloat16")
    await person.presses("enter", "j", "j")
    await person.sees("cuBLAS")


async def in_groups(person: Person) -> None:
    await person.presses("v", "v")
    await person.sees("aten::addmm")


@pytest.mark.parametrize(
    ("name", "size", "story"),
    [
        ("rows-80x24", (80, 24), on_a_kernel),
        ("rows-160x45", (160, 45), on_a_kernel),
        ("groups-120x30", (120, 30), in_groups),
    ],
)
async def test_the_characters(
    opener: Opener, name: str, size: tuple[int, int], story: Story
) -> None:
    async with sit(opener, opened(TRACES / "h100-bert-small.json.gz"), *size) as person:
        await person.sees("ProfilerStep#6", "forward 2.1ms")
        await story(person)
        kept = LOOKS / f"{name}.txt"
        if os.environ.get("TORCHNAV_UPDATE"):
            await person.pilot.pause(1)
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(pane_text(person), encoding="utf-8")
        look = kept.read_text(encoding="utf-8")
        await person.until(lambda: pane_text(person) == look, f"the characters of {kept.name}")


async def test_a_trace_compares_versions_and_turns_its_views_both_ways(
    opener: Opener, step_folder: Path
) -> None:
    async with sit(opener, opened(step_folder / "trace.json"), 200, 50) as person:
        await person.sees("torch.nn.init.normal_", "d Dispatch path", "V Diff")
        await person.presses("v", "v")
        await person.sees("· operator")
        await person.presses("alt+v")
        await person.sees("· flat")
        await person.until(lambda: person.session is not None, "an index")
        await person.presses("V")
        await person.sees("name a version and press enter")


async def test_groups_open_their_rows(opener: Opener, step_folder: Path) -> None:
    async with sit(opener, opened(step_folder / "trace.json")) as person:
        await person.sees("torch.nn.init.normal_")
        await person.presses("v", "v")
        await person.sees("operator", "aten::addmm")
        await person.presses("enter")
        await person.until(lambda: screen_of(person).pane.filter.value.startswith("op:"))
        await person.sees("flat")


async def test_forward_and_backward_of_the_same_operator(opener: Opener, step_folder: Path) -> None:
    async with sit(opener, opened(step_folder / "trace.json")) as person:
        await person.sees("torch.nn.init.normal_")
        screen = screen_of(person)
        assert screen.pane.trace is not None
        gelu = next(
            op
            for op in screen.pane.trace.ops()
            if op.name == "aten::gelu" and screen.pane.trace.backward_of(op.id)
        )
        screen.pane.ops.select(gelu.id)
        await person.presses("g", "f")
        await person.sees("GeluBackward0", "gradient of aten::gelu")
        await person.presses("g", "f")
        await person.until(lambda: screen.pane.ops.current == gelu.id)


KEYED: list[dict[str, Any]] = [
    {"name": "torchnav_program", "args": {"command": ["x.py"], "cwd": "/"}},
    {"name": "torchnav_run", "args": {"format": 2, "torch": "2.13.0", "recorder": "compiled"}},
    {"name": "torchnav_keys", "args": {"keys": 1, "names": ["AutogradCPU", "CPU"]}},
    {
        "name": "torchnav_kind",
        "args": {
            "kind": 1,
            "name": "aten::add.Tensor",
            "Input type": ["float", "float"],
            "Input Dims": [[2], [2]],
            "keys": 1,
        },
    },
    {
        "name": "torchnav_ops",
        "tid": 1,
        "args": {
            "count": 1,
            "kind": [1],
            "start": [1000],
            "duration": [2000],
            "output": [0],
            "at": [0],
            "sequence": [-1],
            "forward": [0],
        },
    },
    {"name": "torchnav_window", "args": {"window": 1}},
]


async def test_the_dispatch_path_of_a_row(opener: Opener, tmp_path: Path) -> None:
    lines = (json.dumps({"ph": "M", "pid": 1, **one}) for one in KEYED)
    (tmp_path / "trace.json").write_text("[\n" + ",\n".join(lines) + ",\n")
    async with sit(opener, opened(tmp_path / "trace.json")) as person:
        await person.sees("add.Tensor float32[2]")
        screen = screen_of(person)
        await person.until(lambda: screen.workspace.links is not None)
        await person.presses("d")
        await person.sees(
            "dispatch path of add.Tensor", "AutogradCPU", "the kernel of the back end"
        )
        await person.presses("escape")
        await person.until(lambda: person.app.screen is screen)


async def test_a_row_without_keys_says_so(opener: Opener, step_folder: Path) -> None:
    async with sit(opener, opened(step_folder / "trace.json")) as person:
        await person.sees("torch.nn.init.normal_")
        screen = screen_of(person)
        await person.until(lambda: screen.workspace.links is not None)
        await person.presses("d")
        await person.sees("its key set was not recorded")


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
    program = RunningProgram([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        program.type("x" * 1_000_000)
        assert program.is_running
        program.interrupt()
        assert program.wait() == -2
    finally:
        program.stop()


async def test_in_few_rows_the_output_makes_room_at_the_end(opener: Opener, tmp_path: Path) -> None:
    text = TEN_LINES.replace("input()", "'you'")
    async with running(opener, tmp_path, text, 80, 24) as (person, _):
        screen = screen_of(person)
        await person.until(lambda: not screen.query_one(OutputLog).display)
        await person.sees("Tensor.backward")
        await person.until(lambda: screen.query_one(ChainPane).region.height > 0)
        assert screen.pane.ops.size.height >= 6
        await person.presses("O")
        await person.sees("hello you")
        await person.until(lambda: screen.query_one(ChainPane).region.height == 0)


async def test_in_few_rows_the_output_of_a_failure_stays(opener: Opener, tmp_path: Path) -> None:
    async with running(opener, tmp_path, "raise ValueError('no')", 80, 24) as (person, _):
        await person.sees("ended with status 1", "ValueError: no")


async def test_the_device_on_which_a_call_ran_is_marked(opener: Opener, step_folder: Path) -> None:
    async with sit(opener, opened(step_folder / "trace.json"), 160, 45) as person:
        await person.sees("torch.nn.init.normal_")
        await person.types("/op:aten::addmm")
        await person.presses("enter")
        await person.sees("▶1 CPU")
        assert "▶2" not in person.screen()
        chain = screen_of(person).workspace.chain
        assert chain.ran is not None
        assert chain.ran.device == "CPU"
