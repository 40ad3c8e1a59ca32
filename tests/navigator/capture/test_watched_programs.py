"""Programs that watch themselves see no difference: profilers, stacks, warnings, traces."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from navigator.trace.readers import read_trace
from tests.navigator.trace.programs import names, run

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


@pytest.fixture(scope="module")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the program prints without us."""
    return run(tmp_path_factory.mktemp("plain"), PROFILES, record=False).stdout


def test_the_compiled_recorder_and_the_programs_own_profiler_see_both(
    tmp_path: Path, library: str, profiled: str
) -> None:
    recorded = run(tmp_path, PROFILES, options=("--native", library))
    assert (recorded.returncode, recorded.stdout) == (0, profiled)
    trace = read_trace(tmp_path / "trace.json")
    assert {"cos", "neg", "sin"} <= names(trace)
    assert not trace.meta.problems


def test_what_the_programs_own_profiler_saw_has_its_calls_and_lines(
    tmp_path: Path, profiled: str
) -> None:
    recorded = run(tmp_path, PROFILES)
    assert (recorded.returncode, recorded.stdout) == (0, profiled)
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


COMPILES = """\
import torch
torch.manual_seed(0)  # a graph depends on the values
layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
@torch.compiler.disable
def aside(x):
    return x.cos().sum()
@torch.compile(backend="eager")
def f(x, w):
    y = torch.relu(x @ w)
    torch._dynamo.graph_break()
    if y.sum() > 0:
        y = y * 2
    return layer(y[None]).sum() + aside(y)
w = torch.randn(8, 8, requires_grad=True)
for _ in range(3):
    f(torch.ones(3, 8), w).backward()
with Mode():
    f(torch.ones(3, 8), w).backward()
with torch.no_grad():
    layer(torch.ones(2, 3, 8))
try:
    f(torch.ones(3, 8), torch.ones(1))
except Exception as error:
    print(type(error).__name__)
net = torch.nn.Sequential(torch.nn.Linear(8, 2))
print(len(torch.export.export(net, (torch.ones(3, 8),), strict=True).graph.nodes))
w.sin()
counters = torch._dynamo.utils.counters
print(dict(counters["stats"]), dict(counters["frames"]), len(counters["graph_break"]))
"""


def test_compiled_programs_have_the_graphs_that_they_have_without_us(
    tmp_path: Path, library: str
) -> None:
    """Graph breaks, graphs and frames are counted by Dynamo itself."""
    plain = run(tmp_path, COMPILES, record=False)
    for options in ((), ("--native", library)):
        recorded = run(tmp_path, COMPILES, options=options)
        assert (recorded.returncode, recorded.stdout) == (0, plain.stdout), recorded.stderr
        ran = [op for op in read_trace(tmp_path / "trace.json").ops() if op.duration_us]
        made = {op.name: op for op in ran if op.kind == "op"}
        assert "aten::_transformer_encoder_layer_fwd" in made
        place = made["aten::sin"].user
        assert place is not None
        assert COMPILES.splitlines()[place.line - 1] == "w.sin()"


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


def printed(folder: Path, **how: Any) -> tuple[str, str]:
    """What the program prints, wherever it is."""
    done = run(folder, STACKS, **how)
    return done.stdout.replace(str(folder), ""), done.stderr.replace(str(folder), "")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return printed(tmp_path_factory.mktemp("plain"), record=False)


@pytest.mark.parametrize("how", ["profiler", "compiled"])
def test_stacks_and_warnings_are_those_of_the_program(
    tmp_path: Path, how: str, request: pytest.FixtureRequest, plain: tuple[str, str]
) -> None:
    """What is printed of a stack has no frame of ours, nor has what the program reads of an
    exception, and a warning is shown once for each of the program's lines."""
    options = ("--native", request.getfixturevalue("library")) if how == "compiled" else ()
    assert plain[1].count("Implicit dimension choice for softmax") == 3
    assert printed(tmp_path, options=options) == plain
