"""Replays of graphs, joined with the traces in which they were captured."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest

from navigator.cli.main import main
from navigator.trace.readers import read_trace
from navigator.trace.readers.replays import captures_of, join_captures, replays_of
from navigator.trace.trace import Trace
from navigator.trace.views import VIEWS, no_links
from navigator.trace.writers.chrome import write_chrome
from navigator.tui.trace.recordings import RecordedFile
from tests.navigator.trace.conftest import TRACES
from tests.navigator.trace.made import Event, block, kernel, launch, made, op, slice_, tensors

REPLAY = TRACES / "graphs" / "mi300-sglang-replay.json.gz"
CAPTURE = TRACES / "graphs" / "mi300-sglang-capture.json.gz"


def captured(start: float, names: str = "mm mul copy_", hip: tuple[str, ...] = ()) -> list[Event]:
    """A capture of one launch for each operator; HIP says of what."""
    events = [launch(start, 900, "cudaStreamBeginCapture")]
    for number, name in enumerate(names.split()):
        at = start + 10 * (number + 1)
        call = "cudaMemcpyAsync" if name == "copy_" else "cudaLaunchKernel"
        launched = launch(at + 2, int(at), call)
        if hip:
            launched["args"]["kernel"] = hip[number]
        events += [op(f"aten::{name}", at, 8, **tensors([2, 3], [3, 4])), launched]
    end = start + 10 * (len(names.split()) + 1)
    return [*events, launch(end, 901, "cudaStreamEndCapture")]


def replayed(start: float, to: int, *kernels: Event) -> list[Event]:
    """One launch of a graph in a block."""
    call = launch(start + 1, to, "cudaGraphLaunch")
    for one in kernels:
        one["args"]["correlation"] = to
        one["ts"] += start
    return [block("replay", start, 20), call, *kernels]


def node(name: str, start: float, number: int, stream: int = 7) -> Event:
    """A kernel of a replay, with the number of its node in the graph 5."""
    return kernel(name, start, 4, 0, stream, **{"graph node id": 5 << 32 | number, "graph id": 5})


def copy(start: float) -> Event:
    work = {"correlation": 0, "device": 0, "stream": 7}
    return slice_("gpu_memcpy", "Memcpy DtoD", start, 2, 7, **work) | {"pid": 0}


def operators(trace: Trace) -> dict[str, str | None]:
    """Kernel -> operator."""
    found = {one.name: one.op_id for one in trace.kernels()}
    return {name: None if row is None else trace.op(row).name for name, row in found.items()}


def test_nodes_count_in_the_order_of_the_capture(tmp_path: Path) -> None:
    capture = made(tmp_path, captured(0, "mm mul exp"), name="capture.json")
    kernels = [node("gemm", 9, 11), node("times", 2, 12, 8), node("power", 3, 13, 9)]
    trace = made(tmp_path, replayed(50, 7, *kernels))
    before = len(trace)
    joined = join_captures(trace, [capture])
    assert (joined.replays, joined.kernels, joined.joined, joined.reasons) == (1, 3, 3, [])
    assert operators(trace) == {"gemm": "aten::mm", "times": "aten::mul", "power": "aten::exp"}
    rows = [trace.op(row) for row in range(before, len(trace))]
    assert [(row.name, row.duration_us, trace.op(row.parent or 0).name) for row in rows] == [
        (name, 0, "replay") for name in ("aten::mm", "aten::mul", "aten::exp")
    ]
    assert [str(one) for one in rows[0].inputs] == ["float32[2, 3]", "float32[3, 4]"]
    assert all("replayed; launched while" in one.reason for one in trace.kernels())


def test_without_numbers_the_order_of_one_stream_counts(tmp_path: Path) -> None:
    capture = made(tmp_path, captured(0), name="capture.json")
    kernels = [kernel("gemm", 1, 2, 0), kernel("times", 5, 2, 0), copy(8)]
    trace = made(tmp_path, replayed(50, 7, *kernels))
    assert join_captures(trace, [capture]).joined == 3
    assert operators(trace) == {
        "gemm": "aten::mm",
        "times": "aten::mul",
        "Memcpy DtoD": "aten::copy_",
    }


@pytest.mark.parametrize(
    ("kernels", "why"),
    [
        ([kernel("a", 1, 2, 0), kernel("b", 4, 2, 0)], "made 3 nodes, of which 2 ran"),
        ([kernel("a", 1, 2, 0), kernel("b", 4, 2, 0, 9), copy(8)], "several streams"),
        ([kernel("a", 1, 2, 0), copy(4), kernel("b", 8, 2, 0)], "in another order"),
    ],
)
def test_what_may_be_another_graph_is_not_joined(
    tmp_path: Path, kernels: list[Event], why: str
) -> None:
    capture = made(tmp_path, captured(0), name="capture.json")
    fresh = [one | {"args": dict(one["args"])} for one in kernels]
    trace = made(tmp_path, replayed(50, 7, *fresh))
    joined = join_captures(trace, [capture])
    assert (joined.joined, len(joined.reasons)) == (0, 1)
    assert set(operators(trace).values()) == {None}
    assert why in joined.reasons[0]
    assert all(why in one.reason for one in trace.kernels())


def test_names_of_hip_decide(tmp_path: Path) -> None:
    hip = ("gemm", "times", "times", "fill")
    capture = made(tmp_path, captured(0, "mm mul div fill_", hip), name="capture.json")
    kernels = [kernel("times", 1, 2, 0), kernel("gemm", 2, 2, 0, 8), kernel("times", 5, 2, 0, 8)]
    trace = made(tmp_path, replayed(50, 7, *kernels, kernel("unknown", 9, 1, 0)))
    joined = join_captures(trace, [capture])
    assert joined.joined == 3
    assert joined.reasons == ["1: the capture launched kernels of this name more or less often"]
    found = [trace.op(k.op_id).name for k in trace.kernels() if k.op_id is not None]
    assert found == ["aten::mul", "aten::mm", "aten::div"]


def turns(*graphs: int) -> list[Event]:
    """Replays of two kernels each, by the numbers of their graphs, 0 where these are not known."""
    events: list[Event] = []
    for turn, graph in enumerate(graphs):
        kernels = [kernel(f"{name}{turn}", at, 2, 0) for name, at in (("a", 2), ("b", 5))]
        for place, one in enumerate(kernels) if graph else ():
            one["args"]["graph node id"] = graph << 32 | place
        events += replayed(1000 + 100 * turn, 7 + turn, *kernels)
    return events


def test_of_graphs_that_are_alike_the_numbers_tell(tmp_path: Path) -> None:
    capture = made(tmp_path, captured(0, "mm mul") + captured(100, "bmm div"), name="capture.json")
    assert len(captures_of(capture)) == 2
    trace = made(tmp_path, turns(5, 9, 9, 5))
    assert join_captures(trace, [capture]).joined == 8
    found = operators(trace)
    wanted = ["aten::mm", "aten::bmm", "aten::bmm", "aten::mm"]
    assert [found[f"a{turn}"] for turn in range(4)] == wanted
    trace = made(tmp_path, turns(0, 0))
    joined = join_captures(trace, [capture])
    assert (joined.joined, joined.reasons) == (0, ["4: 2 captures are like their replay"])


def test_graphs_of_the_same_operators_are_taken_in_turn(tmp_path: Path) -> None:
    both = captured(0, "mm mul") + captured(100, "mm mul")
    for one, module in zip([e for e in both if e["name"] == "aten::mm"], "xy", strict=True):
        both.append(slice_("python_function", f"nn.Module: {module}", one["ts"] - 1, 9))
    trace = made(tmp_path, turns(0, 0, 0, 0))
    assert join_captures(trace, [made(tmp_path, both, name="capture.json")]).joined == 8
    ops = [trace.op(k.op_id) for k in trace.kernels() if k.op_id is not None]
    assert [op.module for op in ops if op.name == "aten::mm"] == ["x", "y", "x", "y"]


def test_a_capture_without_its_begin_is_all_that_did_not_run(tmp_path: Path) -> None:
    events = [op("aten::mm", 0, 8), launch(2, 1), op("aten::add", 10, 8), launch(12, 2)]
    capture = made(tmp_path, [*events, kernel("ran", 20, 1, 2)], name="capture.json")
    assert [list(one.launches) for one in captures_of(capture)] == [[0]]


def test_a_replay_of_an_amd_gpu(tmp_path: Path) -> None:
    trace, capture = read_trace(REPLAY), read_trace(CAPTURE)
    (replay,) = replays_of(trace)
    joined = join_captures(trace, [capture])
    assert (joined.kernels, joined.joined) == (544, 544) == (len(replay.kernels), 544)
    of_kernels = (trace.op(k.op_id).name for k in trace.kernels() if k.op_id is not None)
    found = Counter(of_kernels)
    assert (found["aten::mm"], found["aiter::rmsnorm"]) == (145, 73)
    for one in trace.kernels():
        if one.name.startswith("Cijk_"):
            assert one.op_id is not None
            assert trace.op(one.op_id).name == "aten::mm"
    flops = VIEWS["flops"](trace, no_links)
    assert sum(int(str(row["count"])) for row in flops.rows) == 145
    assert {row["on"] for row in flops.rows} == {"device"}
    file = tmp_path / "joined.json"
    write_chrome(trace, file)
    again = read_trace(file)
    assert len(again) == len(trace)


def test_the_screen_shows_them_joined() -> None:
    shown: list[tuple[Trace, bool]] = []
    recording = RecordedFile(REPLAY, [CAPTURE])
    recording.read(lambda *told: shown.append(told), lambda _: None, threading.Event())
    trace, is_all = shown[-1]
    assert is_all
    assert sum(k.op_id is not None for k in trace.kernels()) >= 544


def test_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["export", "trace", str(REPLAY), "--capture", str(CAPTURE), "--view", "line"]) == 0
    assert "544 of 544 kernels of 1 replays have operators" in capsys.readouterr().err
    none = str(tmp_path / "none")
    assert main(["export", "trace", str(REPLAY), "--capture", none]) == 2
    assert main(["open", str(REPLAY), "--capture", none]) == 2
