"""The compiled recorder tells the same as the other one, and what only it can tell."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch

from indexes.queries.index import Index
from navigator.trace.link import Linker
from navigator.trace.model import TraceOp
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import MIXED, STEP, line_of, run

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None and shutil.which("clang++") is None, reason="no C++ compiler"
)


@pytest.fixture(scope="module")
def compiled_step(library: str, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    folder = tmp_path_factory.mktemp("compiled")
    done = run(folder, STEP, str(folder / "own.json"), options=("--native", library))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    return read_trace(folder / "trace.json")


def the_step(trace: Trace) -> list[TraceOp]:
    top = next(op for op in trace.ops() if op.name == "the step")
    below = (trace.op(row) for row in trace.table.descendants(top.id))
    return [op for op in below if op.kind == "op" and op.thread == top.thread]


def facts(op: TraceOp) -> tuple[object, ...]:
    line = op.user.line if op.user else None
    return (op.label, op.phase, op.origin, op.node, op.module, line, op.device, str(op.inputs))


def test_the_same_operators_lines_modules_and_nodes(compiled_step: Trace, step: Trace) -> None:
    ours, others = (Counter(map(facts, the_step(trace))) for trace in (compiled_step, step))
    assert ours == others
    assert not compiled_step.meta.problems


def test_paths_that_are_worked_out_are_those_recorded(
    compiled_step: Trace, step: Trace, wheel: Index
) -> None:
    """The other recorder knows no keys. Nothing that is worked out from its trace is wrong."""

    def paths(trace: Trace) -> Counter[tuple[object, ...]]:
        linker, found = Linker(trace, wheel), Counter[tuple[object, ...]]()
        for op in the_step(trace):
            path = linker.path(op)
            if path is not None and path.steps:
                keys = tuple(step.key for step in path.steps)
                found[op.full_name, op.node, str(op.inputs), keys, path.end] += 1
        return found

    recorded, worked_out = paths(compiled_step), paths(step)
    assert not worked_out - recorded
    assert worked_out.total() > 0.95 * recorded.total() > 500


def test_nodes_are_linked(compiled_step: Trace) -> None:
    nodes = [op for op in compiled_step.ops() if op.kind == "node"]
    linked = [op for op in nodes if "AccumulateGrad" not in op.name]
    assert linked
    assert all(op.forward_id is not None for op in linked)


def test_every_operator_has_its_dispatch_keys(compiled_step: Trace) -> None:
    ops = the_step(compiled_step)
    linear = next(op for op in ops if op.name == "aten::linear")
    assert linear.keys[:2] == ("AutogradCPU", "ADInplaceOrView")
    assert "CPU" in linear.keys
    inside = next(op for op in ops if op.name == "aten::as_strided")
    assert "AutogradCPU" not in inside.keys, "kernels call below autograd"


def test_outputs_are_recorded(compiled_step: Trace) -> None:
    linear = next(op for op in the_step(compiled_step) if op.name == "aten::linear")
    assert linear.output == "float32[2, 5, 48]"


def test_rows_are_short_and_the_file_is_json(library: str, tmp_path: Path) -> None:
    program = "import torch\nx = torch.ones(3)\nfor _ in range(2000):\n    x = x.mul(1.0)\n"
    done = run(tmp_path, program, options=("--native", library))
    assert done.returncode == 0, done.stderr
    file = tmp_path / "trace.json"
    assert json.loads(file.read_bytes())[-2]["name"] == "torchnav_end"
    ops = list(read_trace(file).ops())
    assert sum((op.name, op.overload) == ("aten::mul", "Tensor") for op in ops) == 2000
    rows = [line for line in file.read_bytes().splitlines() if b'"torchnav_ops"' in line]
    assert 0 < len(b"".join(rows)) < 60 * len(ops)


def test_recomputation_hooks_threads_and_compiled_regions(compiled_mixed: Trace) -> None:
    def at(mark: str, name: str) -> list[TraceOp]:
        line = line_of(MIXED, mark)
        return [
            op
            for op in compiled_mixed.ops()
            if op.name == name and op.user and op.user.line == line
        ]

    assert sorted(op.origin for op in at("checkpoint", "aten::gelu")) == ["", "recompute"]
    assert [op.origin for op in at("hook", "aten::neg")] == ["hook"]
    assert {op.node for op in at("custom backward", "aten::mul")} == {"SquareBackward"}
    assert at("thread", "aten::mul")
    without = [op for op in compiled_mixed.ops() if op.kind == "op" and op.user is None]
    assert not without, "the Python stack is known inside of compiled graphs too"


@pytest.mark.skipif(
    bool(torch.version.cuda or torch.version.hip or torch.version.xpu),
    reason="on devices the profiler is the default",
)
@pytest.mark.parametrize(
    ("option", "keys"),
    [("--compiled", True), (None, True), ("--no-compiled", False), ("--memory", True)],
)
def test_what_was_built_in_the_cache_is_the_default(
    library: str, tmp_path: Path, option: str | None, keys: bool
) -> None:
    (tmp_path / "program.py").write_text("import torch\nprint(torch.ones(2).sum().item())\n")
    options = ["-o", "trace.json", *([option] if option else [])]
    arguments = [sys.executable, "-m", "navigator", "trace", *options]
    environment = os.environ | {
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "TORCHNAV_CACHE": str(Path(library).parents[2]),
    }
    done = subprocess.run(
        [*arguments, "program.py"],
        cwd=tmp_path,
        env=environment,
        text=True,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "2.0\n")
    assert done.stderr.startswith("torchnav: ")
    assert done.stderr.count("\n") == 1, "how to open it, and nothing else"
    ones = next(op for op in read_trace(tmp_path / "trace.json").ops() if op.name == "aten::ones")
    assert bool(ones.keys) is keys
    assert ones.user
    assert ones.user.line == 2


def test_a_library_of_another_torch_is_not_used(tmp_path: Path) -> None:
    wrong = tmp_path / "_torchnav_native.so"
    wrong.write_bytes(b"\x7fELF no library")
    done = run(tmp_path, "import torch\ntorch.ones(2)\n", options=("--native", str(wrong)))
    assert (done.returncode, done.stderr) == (0, "")
    trace = read_trace(tmp_path / "trace.json")
    assert any("could not be loaded" in problem for problem in trace.meta.problems)
    assert "aten::ones" in {op.name for op in trace.ops()}


SEQUENTIAL = """\
import torch
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.GELU())
net = torch.compile(net, backend="aot_eager")
for _ in range(2):
    net(torch.ones(4, 2)).sum().backward()  # LINE run
"""


def test_a_graph_of_torchs_own_modules_has_the_line_that_runs_it(
    tmp_path: Path, library: str
) -> None:
    done = run(tmp_path, SEQUENTIAL, options=("--native", library))
    assert done.returncode == 0, done.stderr
    trace = read_trace(tmp_path / "trace.json")
    assert {graph.name for graph in trace.table.graphs.values()} >= {"aot_forward_graph"}
    for graph in trace.table.graphs:
        for row in (graph, *trace.children(graph)):
            user = trace.op(row).user
            assert user
            assert user.line == line_of(SEQUENTIAL, "run")


SCRIPTED = """\
import torch


@torch.jit.ignore
def back(x):
    return x.neg()  # LINE python


@torch.jit.script
def scripted(x, n: int):
    for i in range(n):
        x = x.sin() + i  # LINE script
    return back(x).cos()  # LINE after


for _ in range(3):
    scripted(torch.ones(2, requires_grad=True), 2).sum().backward()
print("done")
"""


def test_lines_of_torchscript_are_those_of_its_source(library: str, tmp_path: Path) -> None:
    """What the script calls back in Python has its own; gradients written in C++ have none."""
    done = run(tmp_path, SCRIPTED, options=("--native", library))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    ops = [op for op in read_trace(tmp_path / "trace.json").ops() if op.kind == "op" and op.user]
    assert all(str(op.user).startswith(str(tmp_path)) for op in ops)
    lines = {op.name: op.user.line for op in ops if op.user and op.phase == "forward"}
    wanted = {"aten::sin": "script", "aten::neg": "python", "aten::cos": "after"}
    for name, mark in wanted.items():
        assert lines[name] == line_of(SCRIPTED, mark), name
