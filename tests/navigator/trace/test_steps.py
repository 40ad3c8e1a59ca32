"""Steps of a loop, and the table of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from navigator.trace.figures.spans import gaps, length, merged, part_at, shares
from navigator.trace.figures.steps import steps_of
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from navigator.trace.views import VIEWS, no_links
from tests.navigator.trace.conftest import TRACES
from tests.navigator.trace.made import Event, block, kernel, launch, made, op, slice_


def test_spans() -> None:
    assert merged([(4, 6), (0, 2), (1, 3), (6, 7)]) == [(0, 3), (4, 7)]
    assert gaps([(0, 3), (4, 7)], (-1, 9)) == [(-1, 0), (3, 4), (7, 9)]
    assert gaps([(0, 9)], (2, 4)) == []
    assert list(shares([(0, 3), (4, 7)], (2, 9))) == [(0, (2, 3)), (1, (4, 7))]
    assert [part_at([(0, 3), (4, 7)], at) for at in (0, 3, 4.5, 8)] == [0, None, 1, None]
    assert length([(0, 3), (4, 7)]) == 6


def turn(start: float, names: tuple[str, ...] = ("Optimizer.step#SGD.step",)) -> list[Event]:
    """Ten microseconds of forward, and updates."""
    events = [op("aten::mul", start, 10)]
    for number, name in enumerate(names):
        events += [block(name, start + 20 + 10 * number, 5)]
        events += [op("aten::add_", start + 21 + 10 * number, 3)]
    return events


def test_an_update_ends_a_step(tmp_path: Path) -> None:
    trace = made(tmp_path, turn(0) + turn(100) + turn(200) + [op("aten::sum", 300, 1)])
    rule, steps = steps_of(trace)
    assert "Optimizer.step" in rule
    assert [(step.start, step.end) for step in steps] == [(0, 25), (25, 125), (125, 225)]
    view = VIEWS["steps"](trace, no_links)
    assert [row["operators"] for row in view.rows] == [2, 2, 2]
    assert [row["forward_us"] for row in view.rows] == [10, 10, 10]
    assert [row["optimizer_us"] for row in view.rows] == [3, 3, 3]
    assert [row["other_us"] for row in view.rows] == [12, 87, 87]
    assert "1 outermost operators are in no step" in view.notes


def test_two_optimizers_in_turn_are_one_update(tmp_path: Path) -> None:
    both = ("Optimizer.step#SGD.step", "Optimizer.step#Adam.step")
    _, steps = steps_of(made(tmp_path, turn(0, both) + turn(100, both)))
    assert [step.end for step in steps] == [35, 135]


@pytest.mark.parametrize("name", ["step {}", "train_step#{}", "## iteration {} ##", "{}: Step"])
def test_blocks_of_the_program_come_before_updates(tmp_path: Path, name: str) -> None:
    events = [block(name.format(n), 100 * n, 50) for n in range(3)]
    events += [block("stepwise", 0, 400), *turn(0), *turn(100)]
    _, steps = steps_of(made(tmp_path, events))
    assert [step.name for step in steps] == [name.format(n) for n in range(3)]


def test_the_profilers_marks_come_first_and_the_device_is_counted(tmp_path: Path) -> None:
    events = [block(f"ProfilerStep#{n}", 100 * n, 100) for n in range(4)]
    events += [block("step 1", 0, 400), op("aten::mul", 10, 5), launch(11, 1), launch(13, 2)]
    events += [kernel("k", 90, 20, 1), kernel("k", 105, 10, 2)]
    view = VIEWS["steps"](made(tmp_path, events), no_links)
    assert [row["step"] for row in view.rows] == [f"ProfilerStep#{n}" for n in range(4)]
    assert [row["busy_us"] for row in view.rows] == [10, 15, 0, 0]
    assert [row["idle_us"] for row in view.rows] == [90, 85, 100, 100]


def test_slow_first_steps_are_a_warm_up(tmp_path: Path) -> None:
    lengths = (500, 90, 40, 40, 90, 40, 40)
    starts = [sum(lengths[:n]) for n in range(len(lengths))]
    blocks = [block(f"step {n}", *one) for n, one in enumerate(zip(starts, lengths, strict=True))]
    view = VIEWS["steps"](made(tmp_path, [*blocks, op("aten::mul", 1, 1)]), no_links)
    assert [row["note"] for row in view.rows] == ["warm-up", "warm-up", "", "", "", "", ""]
    assert view.rows[0]["times_median"] == 12.5


def test_memory_by_step(tmp_path: Path) -> None:
    def memory(at: float, size: int, total: int) -> Event:
        args = {"Bytes": size, "Addr": 1, "Total Allocated": total, "Device Type": 0}
        return slice_("cpu_instant_event", "[memory]", at, 0, **args) | {"ph": "i"}

    events = [block(f"step {n}", 100 * n, 100) for n in range(2)]
    events += [
        op("aten::mul", 10, 5),
        memory(12, 64, 64),
        memory(110, 32, 96),
        memory(120, -64, 32),
    ]
    view = VIEWS["steps"](made(tmp_path, events), no_links)
    assert [(row["peak_bytes"], row["kept_bytes"]) for row in view.rows] == [(64, 64), (96, -32)]


def test_a_trace_without_steps_says_what_would_mark_them(step: Trace, tmp_path: Path) -> None:
    view = VIEWS["steps"](made(tmp_path, [op("aten::mul", 0, 1)]), no_links)
    assert not view.rows
    assert "ProfilerStep" in view.notes[0]
    recorded = VIEWS["steps"](step, no_links)
    assert [row["step"] for row in recorded.rows] == ["the step"]


def test_a_function_that_is_compiled_is_no_step_and_ranks_are_no_times() -> None:
    view = VIEWS["steps"](read_trace(TRACES.parent / "torch_trace"), no_links)
    assert (view.rows, view.notes) == ([], ("the trace has no times",))
