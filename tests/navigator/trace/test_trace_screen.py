"""Somebody looks at traces on the screen: recorded ones and GPU profiles."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from indexes.model.errors import Cancelled, Progress, Report
from indexes.source.source import Source
from navigator.trace import versions
from navigator.trace.groups import GROUPS, gather, hottest, own_time
from navigator.trace.running import RunningProgram
from navigator.trace.table import OP, Table
from navigator.trace.trace import Trace
from navigator.trace.views import VIEWS
from navigator.tui import session
from navigator.tui.panes.index_progress import IndexProgress
from navigator.tui.processes.indexing import refresh_index
from navigator.tui.processes.preview import Preview
from navigator.tui.session import Opener, Session
from navigator.tui.trace.recordings import Show
from navigator.tui.trace.timeline_bar import TimelineBar
from tests.navigator.trace.conftest import TRACES
from tests.navigator.trace.sitting import opened, opens, screen_of, sit
from tests.navigator.tui.conftest import PATIENCE, Person

LOOKS = Path(__file__).parent / "looks"
Story = Callable[[Person], Awaitable[None]]


async def test_it_opens_below_the_line_that_costs_most(opener: Opener, tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text("import torch\nx = torch.ones(2)\ny = x @ x\nprint(x)\n")
    rows: list[dict[str, Any]] = []

    def add(name: str, line: int, start: int, duration: int, kind: str = "cpu_op") -> None:
        args: dict[str, Any] = {"Input Dims": [[2, 3]], "Input type": ["float"]}
        if kind == "torchnav_call":
            args = {"call": len(rows), "function": name, "stack": line}
        rows.append(
            {"ph": "X", "cat": kind, "name": name, "ts": start, "dur": duration, "tid": 1}
            | {"args": args}
        )

    add("torch.ones", 2, 0, 10, "torchnav_call")
    add("aten::ones", 2, 1, 8)
    add("torch.Tensor.__matmul__", 3, 20, 60, "torchnav_call")
    add("aten::matmul", 3, 21, 50)
    add("aten::mm", 3, 22, 40)
    add("torch.Tensor.cos", 3, 90, 30, "torchnav_call")
    add("aten::cos", 3, 91, 8)
    add("Optimizer.step#SGD.step", 3, 120, 60, "user_annotation")
    add("aten::sub", 3, 121, 5)
    stacks: list[dict[str, Any]] = [
        {"ph": "M", "name": "torchnav_stack", "tid": 1}
        | {"args": {"stack": n, "frames": [[str(program), n, "<module>"]], "user": 0}}
        for n in (2, 3)
    ]
    run: dict[str, Any] = {
        "ph": "M",
        "name": "torchnav_run",
        "args": {"format": 2, "torch": "2.13.0"},
    }
    window: dict[str, Any] = {"ph": "M", "name": "torchnav_window", "args": {"window": 1}}
    lines = (json.dumps({"pid": 1, **one}) for one in [run, *stacks, *rows, window])
    (tmp_path / "trace.json").write_text("[\n" + ",\n".join(lines) + ",\n")
    async with sit(opener, opened(tmp_path / "trace.json"), 100, 40) as person:
        await opens(person)
        tree = screen_of(person).pane.ops
        assert tree.trace is not None
        assert tree.current is not None
        assert tree.trace.op(tree.current).label == "aten::mm"
        await person.sees("train.py:2  x = torch.ones(2)", "train.py:3  y = x @ x")
        shown = [line.split("│")[0].split() for line in person.screen().split("\n")]
        at = next(n for n, words in enumerate(shown) if "mm" in words)
        assert shown[at][:2] == ["mm", "float32[2,"]
        assert shown[at - 3][1] == "train.py:3", "the operator stands below the user's line"
        folded = {words[1]: words[2] for words in shown if words[:1] == ["▸"]}
        assert folded == {"torch.ones": "+1", "torch.Tensor.cos": "+1"}
        assert "+1" in person.line("Optimizer.step#SGD")
        await person.presses("h", "h", "h", "h", "h")
        assert tree.line_here() is not None, "what it stands under, up to the line"
        await person.presses("space")
        await person.sees_no("torch.Tensor.cos")
        assert "+3" in person.line("y = x @ x")
        await person.presses("enter")
        await person.sees("3▎ y = x @ x")


class Made:
    """A trace that is at hand."""

    title, waiting = "made", ""
    program: RunningProgram | None = None

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def read(self, show: Show, progress: Callable[[int], object], stop: Event) -> None:
        show(self._trace, True)


async def test_it_opens_on_the_operator_in_which_the_program_died(opener: Opener) -> None:
    table = Table()
    name, thread = table.names.number(("aten::mm", "")), table.threads.number(("1", "1"))
    for start, duration in ((0, 90), (100, 5), (101, 4)):
        table.roots.append(table.append(OP, name, thread, start, duration))
    table.roots.pop()
    table.adopt(1, 2)
    table.unfinished |= {1, 2}
    trace = Trace(table=table)
    trace.meta.problems += ["died in aten::mm, train.py:12", "the last window is missing"]
    async with sit(opener, Made(trace), 80, 24) as person:
        tree = screen_of(person).pane.ops
        await person.until(lambda: tree.current == 2)
        await person.sees("died in aten::mm, train.py:12", "(1 more: i)", "mm died in it")


async def test_the_torch_that_ran_is_indexed_beside_the_screen_and_no_longer_than_it(
    tree: Path, tree_copy: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the screen's own process keys would wait, and each trace that is opened make another."""
    begun, stopped = Event(), Event()

    def bring(
        source: Source, into: Path, told: Callable[[Progress], None], cancelled: Callable[[], bool]
    ) -> Report:
        if source.top != str(tree_copy):
            return refresh_index(source, into, told, cancelled)
        begun.set()
        while not cancelled():
            time.sleep(0.01)
        stopped.set()
        raise Cancelled("stopped")

    ran = Source.find(str(tree_copy))
    monkeypatch.setattr(versions, "recorded_source", lambda *_: ran)
    monkeypatch.setattr(session, "refresh_index", bring)
    trace = Trace(table=Table())
    trace.meta.torch_git = "0" * 40
    async with sit(Opener(str(tree), cache), Made(trace), 80, 24) as person:
        await person.until(begun.is_set)
        assert not stopped.is_set()
    assert stopped.wait(PATIENCE)


async def test_a_trace_of_kernels_alone_opens_on_them(opener: Opener) -> None:
    table = Table()
    for start in range(5):
        table.kernels.append(0, "a_kernel", ("0", "7"), start * 10.0, 5.0, -1)
    table.zero = 0.0
    async with sit(opener, Made(Trace(table=table)), 80, 24) as person:
        pane = screen_of(person).pane
        await person.sees("total  calls  kernel", "25.0us      5  a_kernel")
        assert pane.table.has_focus
        pane.open_view("lanes")
        await person.sees("device 0 stream 7", "device 0 idle")


def test_what_costs_most_is_an_operator_of_the_program(step: Trace) -> None:
    table = step.table
    row = hottest(step)
    assert row is not None
    label = table.label(table.name[row])
    group = next(one for one in gather(step, "operator") if one.name.startswith("aten::"))
    assert label == group.name
    same = [one for one in range(len(step)) if table.name[one] == table.name[row]]
    assert own_time(step, row) == max(own_time(step, one) for one in same)
    assert hottest(Trace()) is None


async def test_a_backward_operator_leads_to_its_formula(opener: Opener, step_folder: Path) -> None:
    async with sit(opener, opened(step_folder / "trace.json")) as person:
        await opens(person)
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


async def test_a_chain_from_before_the_index_is_drawn_anew(
    opener: Opener, step_folder: Path
) -> None:
    async with sit(opener, opened(step_folder / "trace.json")) as person:
        await opens(person)
        bar, here = screen_of(person).query_one(IndexProgress), screen_of(person).workspace
        await person.until(lambda: here.context.index is not None and here.chain.op, "a chain")
        assert here.context.session is not None
        index, source = here.context.session.index, Source.find(opener.tree)
        bar.post_message(IndexProgress.Opened(Session(Preview(source))))
        await person.sees("Not read yet")
        bar.post_message(IndexProgress.Opened(Session(index)))
        await person.sees_no("Not read yet")


async def test_a_gpu_profile_at_80_by_24(opener: Opener) -> None:
    async with sit(opener, opened(TRACES / "h100-bert-small.json.gz"), 80, 24) as person:
        await opens(person)
        await person.sees("modeling_bert.py:", "addmm bfloat16")
        await person.types("/op:aten::add")
        await person.sees("add bfloat16[1, 141, 512]")
        await person.presses("enter", "k", "k")
        await person.sees("cuda:0", "modeling_bert.py:551", "add.Tensor")
        await person.presses("i")
        await person.sees("NVIDIA H100", "capture_overload_names=True")
        await person.presses("escape", "v")
        await person.until(lambda: screen_of(person).pane.view == "flat")


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
    await person.presses("v", "v", "v")
    await person.sees("calls  operator", "aten::addmm")


@pytest.mark.parametrize(
    ("name", "size", "story"),
    [
        ("rows-80x24", (80, 24), on_a_kernel),
        ("rows-160x45", (160, 45), on_a_kernel),
        ("groups-120x30", (120, 30), in_groups),
    ],
)
async def test_the_characters(
    opener: Opener, name: str, size: tuple[int, int], story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {by: VIEWS[by] for by in GROUPS}  # a view more is not another look
    monkeypatch.setattr("navigator.tui.trace.pane.VIEWS", few)
    async with sit(opener, opened(TRACES / "h100-bert-small.json.gz"), *size) as person:
        await opens(person)
        await person.sees("forward 2.1ms")
        await story(person)
        kept = LOOKS / f"{name}.txt"
        if os.environ.get("TORCHNAV_UPDATE"):
            await person.pauses(1)
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(pane_text(person), encoding="utf-8")
        look = kept.read_text(encoding="utf-8")
        await person.until(lambda: pane_text(person) == look, f"the characters of {kept.name}")


async def test_help_explains_the_rows_of_a_trace(opener: Opener, step_folder: Path) -> None:
    async with sit(opener, opened(step_folder / "trace.json")) as person:
        await opens(person)
        await person.presses("question_mark", "end")
        await person.sees("Rows of a trace", "the number of operators folded below", "dur:>1ms")


async def test_forward_and_backward_of_the_same_operator(opener: Opener, step_folder: Path) -> None:
    async with sit(opener, opened(step_folder / "trace.json")) as person:
        await opens(person)
        screen = screen_of(person)
        assert screen.pane.trace is not None
        gelu = next(
            op
            for op in screen.pane.trace.ops()
            if op.name == "aten::gelu" and screen.pane.trace.backward_of(op.id)
        )
        screen.pane.open_row(gelu.id)
        await person.presses("g", "f")
        await person.sees("GeluBackward0", "gradient of aten::gelu")
        await person.presses("g", "f")
        await person.until(lambda: screen.pane.ops.current == gelu.id)
        await person.presses("b")
        await person.sees("│ GeluBackward0", "gelu_backward(grad, self")
        await person.sees("derivatives.yaml:")
        await person.presses("b")
        await person.sees_no("│ GeluBackward0")


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
        await person.sees("dispatch path of add.Tensor", "AutogradCPU", "the kernel of the backend")
        await person.presses("escape")
        await person.until(lambda: person.app.screen is screen)


async def test_a_moment_that_was_chosen_is_not_left_for_the_costliest_row(
    opener: Opener, step_folder: Path
) -> None:
    """Which may be found only then."""
    async with sit(opener, opened(step_folder / "trace.json")) as person:
        await opens(person)
        pane = screen_of(person).pane
        assert pane.trace is not None
        costliest = pane.ops.current
        pane.on_timeline_bar_chosen(TimelineBar.Chosen(0.0))
        chosen = pane.ops.current
        assert chosen != costliest
        pane.grow(pane.trace, done=True)
        await person.pauses(0.5)
        assert pane.ops.current == chosen


async def test_a_row_without_keys_says_so(opener: Opener, step_folder: Path) -> None:
    async with sit(opener, opened(step_folder / "trace.json")) as person:
        await opens(person)
        screen = screen_of(person)
        await person.until(lambda: screen.workspace.links is not None)
        assert screen.pane.trace is not None
        screen.pane.open_row(next(op.id for op in screen.pane.trace.ops() if op.kind == "op"))
        await person.presses("d")
        await person.sees("its key set was not recorded")


async def test_the_device_on_which_a_call_ran_is_marked(opener: Opener, step_folder: Path) -> None:
    async with sit(opener, opened(step_folder / "trace.json"), 160, 45) as person:
        await opens(person)
        await person.types("/op:aten::addmm")
        await person.presses("enter")
        await person.sees("▶1 CPU")
        assert "▶2" not in person.screen()
        chain = screen_of(person).workspace.chain
        assert chain.ran is not None
        assert chain.ran.device == "CPU"
