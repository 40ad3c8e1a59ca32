"""``with navigator.trace() as t: ...`` in a program of the user."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

PROGRAM = """\
import sys
import navigator, torch
from torch.overrides import _get_current_function_mode_stack

x = torch.ones(3, requires_grad=True)
engine = torch.autograd.Variable._execution_engine
x.neg()
with navigator.trace() as t:
    x.mul(x).sum().backward()
    try:
        t.trace
    except RuntimeError:
        pass
    else:
        raise AssertionError
names = {op.full_name for op in t.trace.ops()}
assert {"mul.Tensor", "MulBackward0"} <= names and "neg" not in names, names
lines = [op.user.line for op in t.trace.ops() if op.kind == "op"]
assert set(lines) == {9}, lines

with navigator.trace(skip=2, warmup=1, steps=2) as t:
    for number in range(8):
        x + number
        t.step()
assert [op.inputs[1].kind for op in t.trace.ops() if op.full_name == "add.Tensor"] == ["tensor"] * 2
calls = 0 if len(sys.argv) > 1 else 2  # the compiled recorder has none
assert len([op for op in t.trace.ops() if op.kind == "call"]) == calls

@navigator.trace("kept.json")
def function():
    return x.sin()

function()
x.cos()
from navigator.trace.readers import read_trace
from pathlib import Path
kept = {op.full_name for op in read_trace(Path("kept.json")).ops()}
assert "sin" in kept and "cos" not in kept

assert _get_current_function_mode_stack() == []
assert torch.autograd.Variable._execution_engine is engine
print("done")
"""


@pytest.mark.parametrize("compiled", [False, True])
def test_a_block_steps_and_a_function_are_recorded(
    tmp_path: Path, compiled: bool, request: pytest.FixtureRequest
) -> None:
    if compiled and (torch.version.cuda or torch.version.hip or torch.version.xpu):
        pytest.skip("on devices the profiler is the default")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    library = Path(request.getfixturevalue("library")) if compiled else tmp_path / "a" / "b" / "c"
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, str(program), *["compiled"] * compiled],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        env={"PYTHONPATH": str(root), "PATH": "", "TORCHNAV_CACHE": str(library.parents[2])},
        check=False,
    )
    assert done.stdout == "done\n", done.stderr
