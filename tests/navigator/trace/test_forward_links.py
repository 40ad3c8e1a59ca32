"""Which operator made a Node, where several threads count Nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from navigator.trace.model import TraceOp
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import run

ENGINE = "autograd::engine::evaluate_function: "
LEAF = "torch::autograd::AccumulateGrad"


def event(name: str, thread: int, start: float, duration: float, **args: int) -> dict[str, Any]:
    times = {"ts": start, "dur": duration}
    return {
        "ph": "X",
        "cat": "cpu_op",
        "name": name,
        "pid": 1,
        "tid": thread,
        **times,
        "args": args,
    }


def forward(name: str, thread: int, start: float, sequence: int) -> dict[str, Any]:
    return event(name, thread, start, 1, **{"Sequence number": sequence, "Fwd thread id": 0})


def backward(name: str, thread: int, start: float, sequence: int, of: int) -> list[dict[str, Any]]:
    """A Node in the engine, where the engine's own event knows no number."""
    numbers = {"Sequence number": sequence, "Fwd thread id": of}
    return [
        event(f"{ENGINE}{name}", thread, start, 10),
        event("aten::empty", thread, start + 0.5, 0.5),
        event(name, thread, start + 2, 4, **numbers),
        event("aten::mul", thread, start + 3, 1),
    ]


def test_an_engine_that_tells_of_its_nodes_alone(tmp_path: Path) -> None:
    """As torch 1.9 and older did."""
    node = {"Sequence number": 4, "Fwd thread id": 1}
    events = [
        forward("aten::mul", 1, 0, 4),
        event("MulBackward0", 2, 10, 5, **node),
        event("aten::neg", 2, 11, 1),
        event(LEAF, 2, 20, 5),
        event("aten::detach", 2, 21, 1),
    ]
    trace = read(tmp_path, events)
    (made,), (mul,) = rows(trace, "MulBackward0"), rows(trace, "aten::mul")
    assert (made.kind, made.forward_id) == ("node", mul.id)
    assert [rows(trace, name)[0].phase for name in ("aten::neg", "aten::detach")] == [
        "backward",
        "backward",
    ]
    assert rows(trace, LEAF)[0].kind == "node"


def arrow(number: int, start: tuple[int, float], end: tuple[int, float]) -> list[dict[str, Any]]:
    fields = {"cat": "fwdbwd", "name": "fwdbwd", "id": number, "pid": 1}
    return [
        {"ph": "s", "tid": start[0], "ts": start[1], **fields},
        {"ph": "f", "tid": end[0], "ts": end[1], "bp": "e", **fields},
    ]


def read(folder: Path, events: list[dict[str, Any]]) -> Trace:
    file = folder / "trace.json"
    file.write_text(json.dumps({"traceEvents": events}))
    return read_trace(file)


def rows(trace: Trace, name: str) -> list[TraceOp]:
    return [op for op in trace.ops() if op.name == name]


TWO_THREADS = [
    forward("aten::mul", 1, 10, 0),
    forward("aten::sin", 2, 10, 0),
    *backward("MulBackward0", 3, 100, 0, of=1),
    *backward("SinBackward0", 3, 200, 0, of=2),
]


def test_arrows_tell_the_threads_apart(tmp_path: Path) -> None:
    arrows = [*arrow(1, (1, 10), (3, 102)), *arrow(2, (2, 10), (3, 202))]
    trace = read(tmp_path, TWO_THREADS + arrows)
    for node, made_by in (("MulBackward0", "aten::mul"), ("SinBackward0", "aten::sin")):
        (found,) = rows(trace, node)
        assert found.forward_id is not None
        assert trace.op(found.forward_id).name == made_by


def test_without_them_no_operator_is_guessed(tmp_path: Path) -> None:
    trace = read(tmp_path, TWO_THREADS)
    for node in ("MulBackward0", "SinBackward0"):
        (found,) = rows(trace, node)
        assert found.forward_id is None
        assert "several threads" in (trace.forward_note(found.id) or "")


def test_what_the_engine_does_around_a_node_is_for_its_forward_operator(tmp_path: Path) -> None:
    events = [forward("aten::mul", 1, 10, 0), *backward("MulBackward0", 1, 100, 0, of=1)]
    trace = read(tmp_path, events)
    (empty,), (node,) = rows(trace, "aten::empty"), rows(trace, "MulBackward0")
    assert (empty.origin, empty.node) == ("engine", "MulBackward0")
    assert empty.forward_id == node.forward_id == rows(trace, "aten::mul")[0].id
    assert trace.node_of(empty.id) == node.id


def test_a_leaf_is_for_the_operator_whose_node_ran_before_it(tmp_path: Path) -> None:
    events = [forward("aten::mul", 1, 10, 0), *backward("MulBackward0", 1, 100, 0, of=1)]
    events += [*backward(LEAF, 1, 120, -1, of=0), *backward(LEAF, 1, 140, -1, of=0)]
    trace = read(tmp_path, events)
    mul = rows(trace, "aten::mul")[0].id
    for leaf in rows(trace, LEAF):
        assert leaf.forward_id == mul
        assert "AccumulateGrad" in (trace.forward_note(leaf.id) or "")
    assert trace.backward_of(mul) == rows(trace, "MulBackward0")[0].id


def test_a_leaf_without_a_node_before_it_says_why_there_is_none(tmp_path: Path) -> None:
    trace = read(tmp_path, [forward("aten::mul", 1, 10, 0), *backward(LEAF, 1, 100, -1, of=0)])
    (leaf,) = rows(trace, LEAF)
    assert leaf.forward_id is None
    assert trace.forward_note(leaf.id)


THREADS = """\
from concurrent.futures import ThreadPoolExecutor
import threading
import torch
barrier = threading.Barrier(3)
def work(width):
    torch.manual_seed(width)
    net = torch.nn.Linear(width, 2)
    barrier.wait()
    loss = net(torch.ones(3, width)).sigmoid().sum()
    barrier.wait()
    loss.backward()
    return threading.get_native_id()
with ThreadPoolExecutor(3) as pool:
    print(len(set(pool.map(work, (4, 5, 6)))))
"""


def test_nodes_of_threads_that_count_alike_are_told_apart(tmp_path: Path, library: str) -> None:
    """The compiled recorder tells which thread a Node means."""
    done = run(tmp_path, THREADS, options=("--native", library))
    assert done.stdout == "3\n", done.stderr
    trace = read_trace(tmp_path / "trace.json")
    nodes = [op for op in trace.ops() if op.kind == "node" and op.name == "SigmoidBackward0"]
    made = [trace.op(node.forward_id) for node in nodes if node.forward_id is not None]
    assert [op.name for op in made] == ["aten::sigmoid"] * 3
    assert [op.thread for op in made] == [node.thread for node in nodes]
    assert len({op.sequence for op in made}) < 3, "they count alike"
