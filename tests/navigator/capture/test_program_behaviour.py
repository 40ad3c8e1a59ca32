"""A recorded program behaves as without the recorder."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from navigator.capture.frames import FRAME_LIMIT
from navigator.trace.readers import read_trace
from tests.navigator.trace.programs import RECORDER, line_of, names, run

TALKS = """\
import atexit, logging, sys, threading, traceback, warnings
print(sys.argv, __name__, __file__, sys.path[0], __spec__, input())
import torch
import torch.nn.functional as F
atexit.register(lambda: print("at exit", float(torch.ones(2).sum())))
print(threading.enumerate() == [threading.main_thread()], torch.__spec__.loader is torch.__loader__)
F.softmax(torch.ones(3))
torch.quantize_per_tensor(torch.ones(3), 1.0, 0, torch.qint8)
warnings.warn("mine")
try:
    torch.mm(torch.ones(2, 3), torch.ones(2, 3))
except RuntimeError:
    traceback.print_exc()
def work():
    F.relu(torch.ones(2)) @ torch.ones(3)
thread = threading.Thread(target=work, name="worker")
thread.start()
thread.join()
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        raise ValueError("in backward")
try:
    Broken.apply(torch.ones(2, requires_grad=True)).sum().backward()
except ValueError as error:
    raise KeyError("at last") from error
"""


RANKS = """\
import os, sys
import torch
import torch.distributed as dist
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh
from torch.nn.parallel import DistributedDataParallel
rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=2)
torch.manual_seed(0)
net = DistributedDataParallel(torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    net(torch.ones(2, 4) * (rank + 1)).sum().backward()
    optimizer.step()
print([p.detach().sum().item() for p in net.parameters()])
mesh = init_device_mesh("cpu", (2,))
w = distribute_tensor(torch.arange(16.0).view(4, 4), mesh, [Shard(0)])
print(torch.mm(w, w.redistribute(mesh, [Replicate()])).full_tensor().sum().item())
dist.destroy_process_group()
"""


def same(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def test_output_warnings_tracebacks_and_exit_status_are_the_same(tmp_path: Path) -> None:
    plain = run(tmp_path, TALKS, "a", "-b", record=False, stdin="typed\n")
    recorded = run(tmp_path, TALKS, "a", "-b", stdin="typed\n", afresh=True)
    assert "KeyError: 'at last'" in plain.stderr
    assert recorded.stdout == plain.stdout
    assert same(recorded.stderr) == same(plain.stderr)
    assert recorded.returncode == plain.returncode == 1
    trace = read_trace(tmp_path / "trace.json")
    assert trace.meta.complete
    assert "SumBackward0" in names(trace)


def test_modules_folders_and_programs_without_torch_run(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__main__.py").write_text("import sys; print(sys.argv[1:], __package__)")
    (package / "__init__.py").write_text("")
    for program in (["-m", "package", "x"], ["package", "x"]):
        plain = subprocess.run(
            [sys.executable, *program], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        recorded = subprocess.run(
            [sys.executable, str(RECORDER), "-o", "t.json", *program],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert recorded.stdout == plain.stdout
    trace = read_trace(tmp_path / "t.json")
    assert trace.meta.problems == ["the program ended before it had imported torch"]


def test_a_program_runs_on_a_torch_that_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("__version__ = '0.4'\nones = print\n")
    done = run(tmp_path, "import torch\ntorch.ones(2)\n", afresh=True)
    assert (done.returncode, done.stdout) == (0, "2\n")
    assert re.fullmatch("torchnav: torch 0.4 cannot be recorded: .*Error: .*\n", done.stderr)
    problem, *_ = read_trace(tmp_path / "trace.json").meta.problems
    assert problem.startswith("torch 0.4 cannot be recorded: ")


@pytest.mark.parametrize("program", ["def f(:\n", "1/0\n", "import nothing_like_this\n"])
def test_errors_before_torch_look_the_same(tmp_path: Path, program: str) -> None:
    plain = run(tmp_path, program, record=False)
    recorded = run(tmp_path, program, afresh=True)
    assert recorded.stderr == plain.stderr
    assert recorded.returncode == plain.returncode == 1


def test_what_torch_reads_from_the_environment_is_the_programs(tmp_path: Path) -> None:
    program = (
        "import os, sys\nassert 'torch' not in sys.modules\nos.environ['OMP_NUM_THREADS'] = '1'\n"
        "import torch\nprint(torch.get_num_threads(), 'KINETO_LOG_LEVEL' in os.environ)\n"
    )
    plain = run(tmp_path, program, record=False)
    assert plain.stdout.endswith("False\n")
    assert run(tmp_path, program, afresh=True).stdout == plain.stdout


def test_ranks_that_talk_to_each_other(tmp_path: Path) -> None:
    """Two processes with DistributedDataParallel and DTensor, each recorded."""
    (tmp_path / "program.py").write_text(RANKS)
    printed: dict[str, list[str]] = {}
    for how in ("plain", "recorded"):
        started = []
        for rank in range(2):
            recorder = [str(RECORDER), "-o", f"rank{rank}.json", "--"] * (how == "recorded")
            command = [sys.executable, *recorder, "program.py", str(rank), str(tmp_path / how)]
            started.append(
                subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
            )
        printed[how] = [process.communicate(timeout=300)[0] for process in started]
        assert [process.returncode for process in started] == [0, 0]
    assert printed["recorded"] == printed["plain"]
    for rank in range(2):
        trace = read_trace(tmp_path / f"rank{rank}.json")
        seen = {op.name for op in trace.ops()}
        assert {"c10d::allreduce_", "AddmmBackward0", "aten::mm"} <= seen


SYMBOLS = """\
import torch
from torch.fx.experimental.symbolic_shapes import ShapeEnv
size = ShapeEnv().create_unbacked_symint()
print(tuple(torch.empty_strided((size, 2), (2, 1), device="meta").stride()))
"""


def test_sizes_that_are_symbols_are_left_alone(tmp_path: Path) -> None:
    """As torch.export makes them: they can't be hashed."""
    done = run(tmp_path, SYMBOLS)
    assert (done.returncode, done.stdout) == (0, "(2, 1)\n"), done.stderr
    names = {op.name for op in read_trace(tmp_path / "trace.json").ops()}
    assert {"torch.empty_strided", "aten::empty_strided"} <= names


DEEP = """\
import torch
net = torch.nn.ReLU()
for _ in range(45):
    net = torch.nn.Sequential(net)
net(torch.ones(3))  # LINE call
"""


@pytest.mark.parametrize("how", ["profiler", "compiled"])
def test_the_users_line_is_found_behind_many_frames_of_torch(
    tmp_path: Path, how: str, request: pytest.FixtureRequest
) -> None:
    options = ("--native", request.getfixturevalue("library")) if how == "compiled" else ()
    assert run(tmp_path, DEEP, options=options).returncode == 0
    trace = read_trace(tmp_path / "trace.json")
    (relu,) = [op for op in trace.ops() if op.name == "aten::relu"]
    assert relu.user is not None
    assert relu.user.path == str(tmp_path / "program.py")
    assert relu.user.line == line_of(DEEP, "call")
    assert len(relu.stack) == FRAME_LIMIT + 1
