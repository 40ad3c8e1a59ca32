"""A recorded program behaves as without the recorder, and its trace up to the end is kept."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import RECORDER, run

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

WATCHES = """\
import cProfile, json, sys
import torch
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile
def f(x):
    y = x + 1
    return (y * 2).sum()
seen = []
def watch(frame, event, arg):
    if frame.f_code.co_filename == __file__:
        seen.append((event, frame.f_lineno))
    return watch
sys.settrace(watch)
f(torch.ones(2))
sys.settrace(None)
sys.setprofile(watch)
f(torch.ones(2))
sys.setprofile(None)
print(seen)
observer = ExecutionTraceObserver().register_callback("nodes.json")
observer.start()
f(torch.ones(2))
observer.stop()
observer.unregister_callback()
print(sorted(node["name"] for node in json.load(open("nodes.json"))["nodes"]))
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as own:
    f(torch.ones(2))
print(sorted((event.key, event.count) for event in own.key_averages()))
class Sub(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print(func.__name__)
        return super().__torch_function__(func, types, args, kwargs)
print(type(f(torch.ones(3).as_subclass(Sub))).__name__)
f(torch.ones(2)).neg()
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


def names(trace: Trace) -> set[str]:
    return {op.full_name for op in trace.ops()}


def same(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def test_output_warnings_tracebacks_and_exit_status_are_the_same(tmp_path: Path) -> None:
    plain = run(tmp_path, TALKS, "a", "-b", record=False, stdin="typed\n")
    recorded = run(tmp_path, TALKS, "a", "-b", stdin="typed\n")
    assert "KeyError: 'at last'" in plain.stderr
    assert recorded.stdout == plain.stdout
    assert same(recorded.stderr) == same(plain.stderr)
    assert recorded.returncode == plain.returncode == 1
    trace = read_trace(tmp_path / "trace.json")
    assert trace.meta.complete
    assert "SumBackward0" in names(trace)


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("raise SystemExit(7)", 7),
        ("import os; os._exit(5)", 5),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)", -signal.SIGTERM),
        ("import os, signal; os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", -signal.SIGINT),
    ],
)
def test_the_trace_is_kept_however_the_program_ends(tmp_path: Path, end: str, status: int) -> None:
    done = run(tmp_path, f"import time\nimport torch\ntorch.ones(3).mul(2)\n{end}\n")
    assert done.returncode == status
    trace = read_trace(tmp_path / "trace.json")
    assert trace.meta.complete
    assert {"ones", "mul.Tensor"} <= names(trace)


def test_calls_are_written_at_once_and_survive_a_kill(tmp_path: Path) -> None:
    program = "import time\nimport torch\ntorch.ones(3).mul(2)\ntime.sleep(60)\n"
    (tmp_path / "program.py").write_text(program)
    file = tmp_path / "trace.json"
    command = [sys.executable, str(RECORDER), "-o", str(file), "program.py"]
    with subprocess.Popen(command, cwd=tmp_path) as process:
        deadline = time.monotonic() + 60
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
    assert (tmp_path / "trace.json").read_bytes().count(b'"torchnav_window"') > 5
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


OWN_PROFILER = """\
import torch
from torch.profiler import ProfilerActivity, profile
torch.ones(2)
with profile(activities=[ProfilerActivity.CPU]) as own:
    for step in range(5000):
        torch.ones(2)
torch.ones(2)
print(sum(event.name() == "aten::ones" for event in own.profiler.kineto_results.events()))
"""


def test_a_window_that_is_full_waits_for_the_end_of_the_programs_profiler(tmp_path: Path) -> None:
    done = run(tmp_path, OWN_PROFILER)
    assert (done.returncode, done.stdout) == (0, "5000\n"), done.stderr
    trace = read_trace(tmp_path / "trace.json")
    assert trace.meta.complete
    assert [op.name for op in trace.ops()].count("aten::ones") == 5002


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
    assert trace.meta.problems == ["the program did not import torch"]


@pytest.mark.parametrize("program", ["def f(:\n", "1/0\n", "import nothing_like_this\n"])
def test_errors_before_torch_look_the_same(tmp_path: Path, program: str) -> None:
    plain = run(tmp_path, program, record=False)
    recorded = run(tmp_path, program)
    assert recorded.stderr == plain.stderr
    assert recorded.returncode == plain.returncode == 1


def test_what_torch_reads_from_the_environment_is_the_programs(tmp_path: Path) -> None:
    program = (
        "import os, sys\nassert 'torch' not in sys.modules\nos.environ['OMP_NUM_THREADS'] = '1'\n"
        "import torch\nprint(torch.get_num_threads(), 'KINETO_LOG_LEVEL' in os.environ)\n"
    )
    plain = run(tmp_path, program, record=False)
    assert plain.stdout.endswith("False\n")
    assert run(tmp_path, program).stdout == plain.stdout


def test_a_full_disk_stops_the_recording_and_not_the_program(tmp_path: Path) -> None:
    (tmp_path / "trace.json").symlink_to("/dev/full")
    done = run(tmp_path, "print('before')\nimport torch\nprint(torch.ones(2).sum())\n")
    assert done.stdout == "before\ntensor(2.)\n"
    assert done.returncode == 0
    assert done.stderr == (
        "torchnav: recording stopped: No space left on device; the trace ends after 0 operators\n"
    )


LIMITED = """\
import resource, sys, torch
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
x = torch.ones(3)
for _ in range(3000):
    x = x.neg()
print("done", float(x[0]))
sys.exit(7)
"""


@pytest.mark.parametrize("limit", [100_000, 20_000, 0])
def test_a_limit_on_files_stops_the_recording_and_not_the_program(
    tmp_path: Path, limit: int
) -> None:
    """The trace or the file that torch hands a window over in reaches it first."""
    done = run(tmp_path, LIMITED, str(limit), options=("--window", "0.003"))
    assert (done.returncode, done.stdout) == (7, "done 1.0\n")
    told = re.fullmatch(
        r"torchnav: recording stopped: (File too large|torch could not save its profile in \S+);"
        r" the trace ends after (\d+) operators?\n",
        done.stderr,
    )
    assert told, done.stderr
    trace = read_trace(tmp_path / "trace.json")
    assert not trace.meta.complete
    assert trace.meta.problems
    assert sum(op.kind == "op" for op in trace.ops()) == int(told[2]) < 3000


LONG = LIMITED.replace("    x = x.neg()", "    x = x.neg()\n    time.sleep(_ % 500 == 499)")


def test_a_limit_stops_the_compiled_recorder_too(tmp_path: Path, library: str) -> None:
    """What was written before it is kept."""
    program = LONG.replace("import resource", "import resource, time")
    done = run(tmp_path, program, "30000", options=("--native", library))
    assert (done.returncode, done.stdout) == (7, "done 1.0\n")
    assert done.stderr.startswith("torchnav: recording stopped: File too large; the trace ends")
    assert 0 < len(read_trace(tmp_path / "trace.json")) < 3000


CLOSES = """\
import os, torch
os.closerange({first}, {end})
mine = [os.open(f"mine{{n}}", os.O_CREAT | os.O_WRONLY) for n in range(8)]
torch.ones(3).neg()
if {first}:
    print(mine)
"""


@pytest.mark.parametrize("first", [0, 3])
def test_a_program_may_close_all_files(tmp_path: Path, first: int) -> None:
    """Then nothing is written to those that it opens under the same numbers."""
    done = run(tmp_path, CLOSES.format(first=first, end=1024))
    assert done.returncode == 0
    assert all((tmp_path / f"mine{n}").read_bytes() == b"" for n in range(8))
    last = "the program closed the trace file; the trace ends after 0 operators\n"
    assert done.stderr == (f"torchnav: recording stopped: {last}" if first else "")


def test_the_files_of_a_program_have_the_numbers_that_they_have_without_us(tmp_path: Path) -> None:
    """And what it closes in good order is not ours."""
    program = CLOSES.format(first=3, end=256)
    plain, recorded = run(tmp_path, program, record=False), run(tmp_path, program)
    assert plain.stdout.startswith("[3, 4, 5")
    assert (recorded.stdout, recorded.stderr) == (plain.stdout, plain.stderr)
    assert "neg" in names(read_trace(tmp_path / "trace.json"))


HANGS = """\
import ctypes, os, signal
import torch
print(signal.getsignal(signal.SIGTERM), signal.signal(signal.SIGHUP, signal.SIG_IGN))
torch.ones(3).neg()
told, tell = os.pipe()
child = os.fork()
if not child:
    mutex, lock = ctypes.create_string_buffer(64), ctypes.PyDLL(None).pthread_mutex_lock
    lock(mutex)
    os.write(tell, b"hangs")
    lock(mutex)
os.read(told, 5)
os.kill(child, signal.SIGTERM)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_signals_are_unhandled_for_the_program_and_end_a_forked_child(tmp_path: Path) -> None:
    """Also one that waits in C and never comes back to Python."""
    plain, recorded = run(tmp_path, HANGS, record=False), run(tmp_path, HANGS)
    assert plain.stdout.endswith(f"{-signal.SIGTERM}\n")
    assert recorded.stdout == plain.stdout
    assert recorded.returncode == plain.returncode == 0


ENDS = """\
import atexit, os, sys
import torch
x = torch.ones(3) + 1
for end in ("pass", "sys.exit(3)", "raise ValueError('mine')"):
    child = os.fork()
    if not child:
        atexit.register(lambda: print("at exit"))
        print("child", float((x * 2).sum()))
        exec(end)
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_a_forked_child_that_ends_by_itself_does_not_hang(tmp_path: Path) -> None:
    done = run(tmp_path, ENDS)
    child = "child 12.0\nat exit\n"
    assert done.stdout == f"{child}0\n{child}3\n{child}1\n"
    assert done.stderr.count("ValueError: mine") == 1
    assert read_trace(tmp_path / "trace.json").meta.complete


def test_what_watches_the_program_itself_sees_no_difference(tmp_path: Path) -> None:
    plain = run(tmp_path, WATCHES, record=False)
    recorded = run(tmp_path, WATCHES)
    assert plain.returncode == recorded.returncode == 0, recorded.stderr
    assert recorded.stdout == plain.stdout
    trace = read_trace(tmp_path / "trace.json")
    assert "neg" in names(trace), "what comes after the program's own profiler is recorded"


PROFILES = """\
import torch
from torch.profiler import ProfilerActivity, profile
torch.ones(2).cos()
with profile(activities=[ProfilerActivity.CPU]) as own:
    torch.ones(2).neg()
torch.ones(2).sin()
print(sorted((event.key, event.count) for event in own.key_averages()))
"""


def test_the_compiled_recorder_and_the_programs_own_profiler_see_both(
    tmp_path: Path, library: str
) -> None:
    plain = run(tmp_path, PROFILES, record=False)
    recorded = run(tmp_path, PROFILES, options=("--native", library))
    assert (recorded.returncode, recorded.stdout) == (0, plain.stdout)
    trace = read_trace(tmp_path / "trace.json")
    assert {"cos", "neg", "sin"} <= names(trace)
    assert not trace.meta.problems


def test_what_the_programs_own_profiler_saw_has_its_calls_and_lines(tmp_path: Path) -> None:
    plain, recorded = run(tmp_path, PROFILES, record=False), run(tmp_path, PROFILES)
    assert (recorded.returncode, recorded.stdout) == (0, plain.stdout)
    trace = read_trace(tmp_path / "trace.json")
    found = {(op.name, op.user and op.user.line) for op in trace.ops() if op.kind == "op"}
    assert {("aten::cos", 3), ("aten::neg", 5), ("aten::sin", 6)} <= found
    unnamed = {trace.table.name_of(row) for row in trace.table.unnamed}
    assert unnamed == {"aten::ones", "aten::empty", "aten::fill_", "aten::neg"}
    assert any("joined with calls by time" in problem for problem in trace.meta.problems)


SHORT_WAYS = """\
import torch
from torch.profiler import ProfilerActivity, profile
layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
x = torch.ones(2, 3, 8)
with torch.no_grad():
    layer(x)
    torch.jit.script(layer)(x)
class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
with torch.no_grad(), Mode(), profile(activities=[ProfilerActivity.CPU]) as own:
    layer(x)
print("aten::_transformer_encoder_layer_fwd" in {event.key for event in own.key_averages()})
"""


def test_modules_take_the_way_that_they_take_without_us(tmp_path: Path) -> None:
    """In evaluation an encoder runs one operator for all of it, unless there is a mode."""
    plain, recorded = run(tmp_path, SHORT_WAYS, record=False), run(tmp_path, SHORT_WAYS)
    assert (recorded.returncode, recorded.stdout) == (0, plain.stdout), recorded.stderr
    assert plain.stdout == "False\n"
    made = [op.name for op in read_trace(tmp_path / "trace.json").ops() if op.kind == "op"]
    assert made.count("aten::_transformer_encoder_layer_fwd") == 2
    assert made.count("aten::_native_multi_head_attention") == 2


FAILS = """\
import traceback
import torch
from torch.profiler import ProfilerActivity, profile
class Fails(torch.nn.Module):
    def forward(self, x):
        return torch.mm(x, torch.ones(7, 7))
net = torch.nn.Sequential(torch.nn.Linear(2, 2), Fails())
for hook in (lambda *_: None, None):
    if hook:
        net[1].register_forward_hook(hook)
    try:
        net(torch.ones(2, 2))
    except RuntimeError:
        traceback.print_exc()
    net[1]._forward_hooks.clear()
for _ in range(2):
    with profile(activities=[ProfilerActivity.CPU]) as own:
        torch.ones(2).neg()
net(torch.ones(2, 2))
"""


def test_no_frame_of_ours_and_no_word_of_kineto_comes_or_goes(tmp_path: Path) -> None:
    """Torch calls a module in a longer way for hooks on all modules, as ours are; what kineto
    says of the program's own profiler is said."""
    plain, recorded = run(tmp_path, FAILS, record=False), run(tmp_path, FAILS)
    assert plain.stderr.count("in inner") == 1, "the program's own hook takes the longer way too"

    def timeless(text: str) -> str:
        return re.sub(r"\d+:\d+(:\d+)?|\d{4}-\d\d-\d\d", "", text)

    assert timeless(recorded.stderr) == timeless(plain.stderr)


STACKS = """\
import inspect, logging, traceback, warnings
import torch
import torch.nn.functional as F
class Shows(torch.nn.Module):
    def forward(self, x):
        logging.warning("a module", stack_info=True)
        return Doubles.apply(x)
class Doubles(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        traceback.print_stack()
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        print([found.function for found in inspect.stack()])
        return grad
x = torch.ones(2, requires_grad=True)
torch.nn.Sequential(Shows())(x).sum().backward()
with torch.autograd.detect_anomaly():
    try:
        (torch.zeros(2, requires_grad=True).sqrt() * 0).sum().backward()
    except RuntimeError as error:
        print(error)
try:
    torch.nn.Sequential(torch.nn.Linear(3, 3))(x)
except RuntimeError as error:
    entry = error.__traceback__
    while entry:
        print(entry.tb_lineno, entry.tb_frame.f_code.co_name)
        entry = entry.tb_next
def warn():
    F.softmax(torch.ones(3))
    F.softmax(torch.ones(3))
    (x * 2).grad
    (x * 2).grad
    F.mse_loss(torch.ones(2), torch.ones(2, 1))
    torch.nn.Softmax()(torch.ones(3))
warn(), warn()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warn()
print([(one.filename, one.lineno, str(one.message)) for one in caught])
"""


@pytest.mark.parametrize("how", ["profiler", "compiled"])
def test_stacks_and_warnings_are_those_of_the_program(
    tmp_path: Path, how: str, request: pytest.FixtureRequest
) -> None:
    """What is printed of a stack has no frame of ours, nor has what the program reads of an
    exception, and a warning is shown once for each of the program's lines."""
    options = ("--native", request.getfixturevalue("library")) if how == "compiled" else ()
    plain, recorded = run(tmp_path, STACKS, record=False), run(tmp_path, STACKS, options=options)
    assert plain.stderr.count("Implicit dimension choice for softmax") == 3
    assert recorded.stdout == plain.stdout
    assert recorded.stderr == plain.stderr


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
