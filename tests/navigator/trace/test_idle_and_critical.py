"""When nothing is computed and why, and the critical path."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from navigator.cli.main import main
from navigator.trace.figures.critical import critical_path
from navigator.trace.figures.idle import (
    CALLED,
    COLLECTIVE,
    LATENCY,
    LAUNCH,
    PROGRAM,
    QUEUED,
    SYNCHRONISED,
    UNKNOWN,
    idle_gaps,
    whole,
)
from navigator.trace.figures.spans import kernel_spans, length, merged, operator_rows, row_span
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from navigator.trace.views import VIEWS, no_links
from tests.navigator.trace.conftest import TRACES
from tests.navigator.trace.made import block, kernel, launch, made, op

ENGINE = "autograd::engine::evaluate_function: "


def reasons(trace: Trace) -> list[tuple[float, float, str, str]]:
    return [(gap.start, gap.end, gap.reason, gap.doing) for gap in idle_gaps(trace)]


def test_a_device_waits_for_its_launches(tmp_path: Path) -> None:
    events = [op("aten::linear", 0, 40), op("aten::addmm", 2, 30), launch(10, 1), launch(12, 2)]
    events += [op("aten::mul", 60, 20), launch(70, 3)]
    events += [kernel("a", 20, 10, 1), kernel("b", 33, 10, 2), kernel("c", 75, 10, 3)]
    events += [kernel("d", 90, 10, 99)]
    assert reasons(made(tmp_path, events)) == [
        (0, 11, LAUNCH, "aten::linear"),
        (11, 20, LATENCY, "aten::linear"),
        (30, 33, QUEUED, "aten::linear"),
        (43, 71, LAUNCH, "the program's own code"),
        (71, 75, LATENCY, "aten::mul"),
        (85, 90, UNKNOWN, "d"),
    ]


def test_a_device_that_the_program_waited_for_and_a_collective(tmp_path: Path) -> None:
    events = [op("aten::mul", 0, 20), launch(1, 1), launch(3, 2), op("aten::item", 20, 25)]
    events += [launch(22, 9, "cudaStreamSynchronize", 20), op("aten::add", 50, 20), launch(60, 3)]
    events += [kernel("a", 0, 10, 1), kernel("ncclDevKernel_AllReduce", 5, 25, 2, 20)]
    events += [kernel("b", 61, 9, 3)]
    assert reasons(made(tmp_path, events)) == [
        (10, 30, COLLECTIVE, "ncclDevKernel_AllReduce"),
        (30, 61, SYNCHRONISED, "cudaStreamSynchronize in aten::item"),
    ]


def test_what_the_program_did_long_after_it_had_waited_is_its_own_doing(tmp_path: Path) -> None:
    events = [op("aten::item", 0, 25), launch(1, 1), kernel("a", 2, 10, 1)]
    events += [launch(3, 9, "cudaStreamSynchronize", 20), op("aten::add", 80, 20), launch(90, 3)]
    assert reasons(made(tmp_path, [*events, kernel("b", 91, 9, 3)])) == [
        (0, 2, LAUNCH, "aten::item"),
        (12, 91, LAUNCH, "the program's own code"),
    ]


def test_without_a_device_the_cpu_is_in_python(tmp_path: Path) -> None:
    events = [block("load", 0, 50), op("aten::mul", 10, 10), op("aten::add", 30, 10)]
    events += [op("aten::sum", 90, 10), op("c10d::allreduce_", 100, 20), op("aten::mul", 120, 1)]
    found = reasons(made(tmp_path, events))
    assert found[:3] == [
        (0, 10, CALLED, "load"),
        (20, 30, CALLED, "load"),
        (40, 90, PROGRAM, "before aten::sum"),
    ]
    assert found[3:] == [(100, 120, COLLECTIVE, "c10d::allreduce_")]


def test_what_is_idle_is_what_is_not_busy(profile_file: Path) -> None:
    trace = read_trace(profile_file)
    start, end = whole(trace)
    idle = sum(gap.end - gap.start for gap in idle_gaps(trace))
    busy = length(merged(kernel_spans(trace)))
    assert idle == pytest.approx(end - start - busy)
    view = VIEWS["idle"](trace, no_links)
    assert sum(float(str(row["time_us"])) for row in view.rows) == pytest.approx(idle)


def test_the_same_of_a_recorded_step(step: Trace) -> None:
    start, end = whole(step)
    busy = length(merged(row_span(step, row) for row in operator_rows(step)))
    idle = sum(gap.end - gap.start for gap in idle_gaps(step))
    assert idle == pytest.approx(end - start - busy)
    assert any("program.py:" in gap.doing for gap in idle_gaps(step))


# ------------------------------------------------------------------------- critical path


def path_of(trace: Trace) -> list[tuple[float, float, str, str]]:
    """The parts, once it is sure that one begins where the one before it ends."""
    parts = critical_path(trace)
    ends = [(one.end, two.start) for one, two in pairwise(parts)]
    assert all(end == start for end, start in ends)
    return [(part.start, part.end, part.kind, part.name) for part in parts]


def test_it_goes_over_launches_kernels_and_what_waits_for_them(tmp_path: Path) -> None:
    events = [op("aten::mul", 0, 20), launch(5, 1), launch(10, 2)]
    events += [kernel("a", 8, 30, 1), kernel("b", 40, 20, 2)]
    events += [op("aten::item", 20, 50), launch(25, 3, "cudaStreamSynchronize", 40)]
    assert path_of(made(tmp_path, events)) == [
        (0, 5, "operator", "aten::mul"),
        (5, 8, "launch", "a"),
        (8, 38, "kernel", "a"),
        (38, 40, "queue", "b"),
        (40, 60, "kernel", "b"),
        (60, 65, "wait", "cudaStreamSynchronize"),
        (65, 70, "operator", "aten::item"),
    ]


def test_a_stream_that_waits_for_another_one(tmp_path: Path) -> None:
    events = [op("aten::mul", 0, 20), launch(1, 1), launch(3, 2), launch(5, 3)]
    events += [kernel("first", 3, 5, 2, 8), kernel("other", 4, 36, 1), kernel("last", 41, 9, 3, 8)]
    waits = launch(4, 9, "cudaStreamWaitEvent", 0.5)
    kinds = [(kind, name) for _, _, kind, name in path_of(made(tmp_path, [*events, waits]))]
    assert kinds[-3:] == [("kernel", "other"), ("queue", "last"), ("kernel", "last")]
    kinds = [(kind, name) for _, _, kind, name in path_of(made(tmp_path, events))]
    assert kinds[-3:] == [("kernel", "first"), ("queue", "last"), ("kernel", "last")]


def test_it_goes_through_the_thread_of_a_backward_pass(tmp_path: Path) -> None:
    events = [op("aten::mul", 0, 10), block("backward", 12, 60), op("aten::add_", 80, 5)]
    for start in (20, 40):
        events += [op(f"{ENGINE}MulBackward0", start, 15, 2), op("MulBackward0", start + 1, 13, 2)]
    assert path_of(made(tmp_path, events)) == [
        (0, 10, "operator", "aten::mul"),
        (10, 12, "program", "the program's own code"),
        (12, 20, "call", "backward"),
        (20, 21, "operator", f"{ENGINE}MulBackward0"),
        (21, 34, "operator", "MulBackward0"),
        (34, 35, "operator", f"{ENGINE}MulBackward0"),
        (35, 40, "wait", "backward"),
        (40, 41, "operator", f"{ENGINE}MulBackward0"),
        (41, 54, "operator", "MulBackward0"),
        (54, 55, "operator", f"{ENGINE}MulBackward0"),
        (55, 72, "wait", "backward"),
        (72, 80, "program", "the program's own code"),
        (80, 85, "operator", "aten::add_"),
    ]


def test_its_parts_make_it_whole(profile_file: Path) -> None:
    trace = read_trace(profile_file)
    parts, (start, end) = path_of(trace), whole(trace)
    total = sum(part[1] - part[0] for part in parts)
    assert total == pytest.approx(parts[-1][1] - parts[0][0])
    assert total <= (end - start) * (1 + 1e-9)
    assert parts[-1][1] == end
    assert {"operator", "runtime"} <= {part[2] for part in parts}
    view = VIEWS["critical"](trace, no_links)
    assert sum(float(str(row["time_us"])) for row in view.rows) == pytest.approx(total)


def test_of_recorded_programs(step: Trace, mixed: Trace) -> None:
    for trace in (step, mixed):
        parts, (start, end) = path_of(trace), whole(trace)
        assert parts[0][0] == pytest.approx(start)
        assert parts[-1][1] == pytest.approx(end)


def test_rows_lead_to_the_trace(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(TRACES / "a100-alexnet-training.json.gz")
    for view in ("idle", "critical"):
        assert main(["export", "trace", file, "--view", view, "--json"]) == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert all(0 <= row.get("op_id", 0) < len(read_trace(Path(file))) for row in rows)
        assert sum("op_id" in row for row in rows) > len(rows) / 2


def test_without_times_there_is_none(tmp_path: Path) -> None:
    trace = made(tmp_path, [op("aten::mul", 0, 0)])
    assert VIEWS["critical"](trace, no_links).notes == ("the trace has no times",)
    assert VIEWS["idle"](trace, no_links).notes == ("the trace has no times",)


def test_rows_that_end_before_they_start_have_no_path(tmp_path: Path) -> None:
    trace = made(tmp_path, [op("aten::add", at * 10.0, -5.0) for at in range(3)])
    assert critical_path(trace) == []
