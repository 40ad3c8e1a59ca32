"""Operators that make a tensor from nothing ran where that tensor is."""

from __future__ import annotations

from pathlib import Path

import pytest

from navigator.trace.model import TraceOp
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import run

FACTORIES = """\
import torch
torch.empty(2)
torch.empty(2, device="meta")
torch.zeros(2, device="meta")
torch.empty(2, 2, layout=torch.sparse_coo)
torch.arange(3)
torch.tensor([1.0], device="meta")
"""
PLACES = [("cpu", "strided"), ("meta", "strided"), ("meta", "strided"), ("cpu", "sparse_coo")]


@pytest.mark.parametrize("compiled", [True, False])
def test_their_places(request: pytest.FixtureRequest, tmp_path: Path, compiled: bool) -> None:
    native = ("--native", request.getfixturevalue("library")) if compiled else ()
    done = run(tmp_path, FACTORIES, options=native)
    assert done.returncode == 0, done.stderr
    ops = [op for op in read_trace(tmp_path / "trace.json").ops() if op.kind == "op" and op.user]
    assert {op.user.line for op in ops if op.user} == set(range(2, 8))
    found = {op.user.line: (op.device, op.layout) for op in ops if op.user and op.user.line < 6}
    assert [found[line] for line in range(2, 6)] == PLACES
    for op in ops:
        if op.user and op.user.line == 4:
            assert op.device == "meta", "what a factory calls is made there too"
    ranges = {op.device for op in ops if op.name == "aten::arange"}
    assert ranges == {"cpu"}
    made, *_ = [op for op in ops if op.user and op.user.line == 7 and op.name == "aten::empty"]
    assert made.device == "meta", "what takes it next says so where that was not recorded"


ELSEWHERE = """\
import torch
from torch.testing._internal.two_tensor import TwoTensor
torch.zeros(2, device="meta")
x = torch.ones(2, 3)
torch.layer_norm(x, (3,), x[0], x[1])
x.to(torch.float64)
both = TwoTensor(torch.ones(2), torch.ones(2))
both + 1
"""


def test_where_the_profiler_tells_of_no_result(tmp_path: Path) -> None:
    done = run(tmp_path, ELSEWHERE)
    assert done.returncode == 0, done.stderr
    trace = read_trace(tmp_path / "trace.json")
    ops = [op for op in trace.ops() if op.kind == "op" and op.name.startswith("aten::empty")]
    pairs = [(op, trace.op(op.parent).name) for op in ops if op.parent is not None]
    of = {(above, op.name): op.device for op, above in pairs[::-1]}
    assert of["aten::native_layer_norm", "aten::empty"] == "cpu", "its caller names no device"
    assert of["aten::_to_copy", "aten::empty_strided"] == "cpu", "the copy into it ran there"
    inside = [op for op in ops if "PythonSubclass" in _around(trace, op)]
    assert all(op.device is None for op in inside), "they may be fake"


def _around(trace: Trace, op: TraceOp) -> list[str]:
    names = []
    while op.parent is not None:
        op = trace.op(op.parent)
        names.append(op.name)
    return names
