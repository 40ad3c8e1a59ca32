"""A backward pass on the thread that the engine keeps for a device, without such a device.

PyTorch lets Python stand in for a device; its backward passes run in the engine's thread.
"""

from __future__ import annotations

from pathlib import Path

from navigator.trace.readers import read_trace
from tests.navigator.trace.programs import line_of, run

PROGRAM = """\
import numpy as np
import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("npy")


class Array(torch.Tensor):
    @staticmethod
    def __new__(cls, raw):
        made = torch._C._acc.create_empty_tensor(raw.shape, torch.float32)
        made.__class__ = Array
        return made

    def __init__(self, raw):
        self.raw = raw


@torch.library.impl("aten::mul.Tensor", "privateuseone")
def mul(a, b):
    return Array(a.raw * b.raw)


@torch.library.impl("aten::detach", "privateuseone")
def detach(a):
    return Array(a.raw)


x = Array(np.ones((2, 3), np.float32)).requires_grad_()
y = x * Array(np.ones((2, 3), np.float32))  # LINE forward
torch.autograd.backward([y], [Array(np.ones((2, 3), np.float32))])  # LINE backward
print(x.grad.raw.sum())
"""


def test_operators_of_the_engines_thread_have_node_line_and_device(tmp_path: Path) -> None:
    done = run(tmp_path, PROGRAM)
    assert done.stdout == "6.0\n", done.stderr
    trace = read_trace(tmp_path / "trace.json")
    muls = [op for op in trace.ops() if op.full_name == "mul.Tensor"]
    forward, backward = sorted(muls, key=lambda op: op.start_us)
    assert forward.thread != backward.thread
    assert (backward.node, backward.phase, backward.device) == ("MulBackward0", "backward", "npy:0")
    assert forward.user is not None
    assert backward.user is not None
    assert forward.user.line == line_of(PROGRAM, "forward")
    assert backward.user.line == line_of(PROGRAM, "backward")
    assert backward.node_id is not None
    assert trace.op(backward.node_id).forward_id == forward.id
