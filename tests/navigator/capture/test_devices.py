"""The call that is about to use a device, and what is recorded around it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from navigator.capture.devices import named_device
from navigator.trace.readers import read_trace
from tests.navigator.trace.programs import run


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "device"),
    [
        (torch.Tensor.cuda, (0,), {}, "cuda"),
        (torch.Tensor.to, (0, "cuda:1"), {}, "cuda"),
        (torch.Tensor.to, (0, torch.device("xpu")), {}, "xpu"),
        (torch.Tensor.to, (0, 1), {}, "cuda"),
        (torch.ones, (3,), {"device": 0}, "cuda"),
        (torch.Tensor.to, (0, torch.bfloat16), {}, ""),
        (torch.Tensor.sum, (0, 1), {}, ""),
        (torch.randn, (3,), {"device": "cuda"}, "cuda"),
        (torch.randn, (3,), {"device": torch.device("cpu")}, ""),
        (torch.randn, (3,), {"device": None}, ""),
        (torch.Tensor.__contains__, (0, "cuda"), {}, ""),
    ],
)
def test_calls_that_name_a_device(
    function: object, args: tuple[object, ...], kwargs: dict[str, object], device: str
) -> None:
    assert named_device(function, args, kwargs) == device


FIRST = """\
import threading
import torch
torch.version.cuda = torch.version.cuda or "13.0"  # as a build with devices says
threading.Thread(target=int).start()  # the next window asks
for name in ("cuda:77", "cpu"):
    try:
        print(torch.ones(3).neg().to(name).sum().item())
    except (AssertionError, RuntimeError):
        print("none")
"""


def test_the_profiler_is_told_of_a_device_before_the_first_call_that_names_one(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, FIRST, options=("--window", "60"))
    assert (done.returncode, done.stdout) == (0, "none\n-3.0\n"), done.stderr
    assert (tmp_path / "trace.json").read_bytes().count(b'"torchnav_window"') == 3
    trace = read_trace(tmp_path / "trace.json")
    assert trace.meta.problems == []
    names = [op.name for op in trace.ops() if op.kind == "op"]
    assert names.count("aten::neg") == 2
    assert all(op.user for op in trace.ops() if op.kind == "op")


OUTSIDE = """\
import threading
import torch
torch.version.cuda = torch.version.cuda or "13.0"
threading.Thread(target=int).start()
torch.ones(3).neg()
torch.cuda.is_initialized = lambda: True  # as torch.load makes it, which is no call
torch.cuda.device_count = lambda: 1
torch.cuda.synchronize = lambda: None
torch.cuda.memory_stats = lambda number: {"allocation.all.allocated": ALLOCATED}
torch.ones(3).neg()
"""


@pytest.mark.parametrize("allocated", [0, 3])
def test_a_device_that_was_used_outside_of_calls_is_told(tmp_path: Path, allocated: int) -> None:
    program = OUTSIDE.replace("ALLOCATED", str(allocated))
    assert run(tmp_path, program, options=("--window", "60")).returncode == 0
    trace = read_trace(tmp_path / "trace.json")
    assert any(
        "before the profiler could be started for it" in one for one in trace.meta.problems
    ) == (allocated > 0)
    assert [op.name for op in trace.ops() if op.kind == "op"].count("aten::neg") == 2
