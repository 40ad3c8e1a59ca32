"""What is written while a program runs: calls at once, operators when a window closes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import RECORDER, run


def test_calls_are_written_at_once_and_survive_a_kill(tmp_path: Path) -> None:
    program = "import signal\nimport torch\ntorch.ones(3).mul(2)\nsignal.pause()\n"
    (tmp_path / "program.py").write_text(program)
    file = tmp_path / "trace.json"
    command = [sys.executable, str(RECORDER), "-o", str(file), "program.py"]
    with subprocess.Popen(command, cwd=tmp_path) as process:
        deadline = time.monotonic() + 120
        while b"torch.Tensor.mul" not in (file.read_bytes() if file.exists() else b""):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.kill()
    trace = read_trace(file)
    calls = [op for op in trace.ops() if op.kind == "call"]
    assert [(c.name, c.user.line if c.user else 0) for c in calls] == [
        ("torch.ones", 3),
        ("torch.Tensor.mul", 3),
    ]
    assert any("cut off" in problem for problem in trace.meta.problems)


def test_windows_lose_nothing(tmp_path: Path) -> None:
    program = (
        "import torch\nlayer = torch.nn.Linear(2, 2)\nfor _ in range(300):\n"
        "    layer(torch.ones(2)).sum().backward()\n"
        "    with torch.profiler.record_function('block'):\n        torch.ones(2).neg()\n"
    )
    done = run(tmp_path, program, options=("--window", "0.005"))
    assert done.returncode == 0, done.stderr
    windows = (tmp_path / "trace.json").read_bytes().count(b'"torchnav_window"')
    assert windows > 2  # as many as the time allows, 5 to 10
    trace = read_trace(tmp_path / "trace.json")
    assert not trace.meta.problems
    counts = dict.fromkeys(("aten::linear", "AddmmBackward0", "aten::neg", "block"), 0)
    for op in trace.ops():
        if op.name in counts:
            counts[op.name] += 1
            assert op.name == "block" or op.user is not None
            assert op.kind != "node" or op.forward_id is not None
    counts.pop("AddmmBackward0")
    assert set(counts.values()) == {300}


STEPS = """\
import torch
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for step in range(60):
    optimizer.zero_grad()
    loss = net(torch.ones(2, 3)).square().sum()
    loss.backward()
    optimizer.step()
    with torch.profiler.record_function("end"):
        loss.neg()
    if step == 40:
        torch.eye(3).to_sparse() + torch.eye(3).to_sparse()
print(loss.item())
"""


def told(trace: Trace) -> Counter[tuple[object, ...]]:
    """Everything but times and numbers."""
    return Counter(
        (op.kind, op.full_name, op.user, op.module, op.inputs, op.phase, op.forward_id is None)
        for op in trace.ops()
    )


def test_windows_in_columns_say_the_same(tmp_path: Path) -> None:
    traces = []
    for seconds in ("100", "0.001"):
        done = run(tmp_path, STEPS, options=("--window", seconds))
        assert done.returncode == 0, done.stderr
        traces.append(read_trace(tmp_path / "trace.json"))
        assert traces[-1].meta.complete
    assert b'"torchnav_ops"' in (tmp_path / "trace.json").read_bytes(), "no window in columns"
    assert told(traces[0]) == told(traces[1])
    devices = [
        [(op.device, op.layout) for op in trace.ops() if op.name == "aten::add"] for trace in traces
    ]
    assert devices[0] == devices[1], "from a sparse tensor on windows are written with places"


CONVOLUTIONS = """\
import torch
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3))
for step in range(300):
    net(torch.ones(2, 3, 16, 16))
"""


def test_names_of_libraries_are_no_layout(tmp_path: Path) -> None:
    """A convolution by oneDNN runs on strided tensors."""
    done = run(tmp_path, CONVOLUTIONS)
    assert done.returncode == 0, done.stderr
    trace = read_trace(tmp_path / "trace.json")
    assert not trace.meta.problems
    assert b'"torchnav_ops"' in (tmp_path / "trace.json").read_bytes()
    assert sum(op.name == "aten::mkldnn_convolution" for op in trace.ops()) == 600


SETS = """\
import torch
weight = torch.nn.Parameter(torch.ones(3))
weight.data = torch.zeros(3)
weight.grad = torch.ones(3)
print(weight.shape, weight.grad)
"""


def test_a_write_to_an_attribute_that_runs_an_operator_has_its_line(tmp_path: Path) -> None:
    done = run(tmp_path, SETS)
    assert done.returncode == 0, done.stderr
    trace = read_trace(tmp_path / "trace.json")
    found = [op for op in trace.ops() if op.name == "aten::_has_compatible_shallow_copy_type"]
    assert [op.user and op.user.line for op in found] == [3]
    calls = {op.name for op in trace.ops() if op.kind == "call"}
    assert "torch.Tensor.data.__set__" in calls
    assert not {"torch.Tensor.shape.__get__", "torch.Tensor.grad.__set__"} & calls


def test_threads_that_call_while_a_window_restarts_lose_nothing(tmp_path: Path) -> None:
    """A third of their calls was in no window, and stood nowhere."""
    program = """\
import threading, torch
x = torch.ones(3)
def work():
    for _ in range(3000):
        x.neg()
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(4000):
    x.abs()
for thread in threads:
    thread.join()
"""
    done = run(tmp_path, program)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "trace.json").read_bytes().count(b'"torchnav_window"') > 2
    trace = read_trace(tmp_path / "trace.json")
    found = Counter((op.kind, op.name) for op in trace.ops())
    assert found["op", "aten::neg"] == found["call", "torch.Tensor.neg"] == 6000


def test_calls_in_no_window_stand_without_operators(tmp_path: Path) -> None:
    """A profiler that ends in another thread leaves none until the main thread's next call."""
    program = """\
import threading, torch
x = torch.ones(3)
def work():
    with torch.profiler.profile():
        x.mul(2)
    for _ in range(5):
        x.add(1)
thread = threading.Thread(target=work)
thread.start()
thread.join()
x.sub(1)
x.div(1)
"""
    done = run(tmp_path, program)
    assert done.returncode == 0, done.stderr
    trace = read_trace(tmp_path / "trace.json")
    calls = Counter(op.name for op in trace.ops() if op.kind == "call")
    assert (calls["torch.Tensor.add"], calls["torch.Tensor.sub"]) == (5, 1)
    assert any("no operators" in problem for problem in trace.meta.problems)
    assert any(op.name == "aten::div" for op in trace.ops())
