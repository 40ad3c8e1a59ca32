"""Memory that the compiled recorder sees is that of the profiler, whoever else profiles."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from navigator.trace.model import Allocation
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import run

STEPS = """\
import sys
import threading
import torch
from torch.profiler import ProfilerActivity, profile

net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters())
x = torch.ones(4, 8)


def step():
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()


step()
step()
if "thread" in sys.argv:
    worker = threading.Thread(target=step)
    worker.start()
    worker.join()
if "profile" in sys.argv:
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as own:
        step()
    print(any(event.self_cpu_memory_usage > 0 for event in own.events()))
    with profile(activities=[ProfilerActivity.CPU]) as own:
        step()
    step()
print(torch._C._autograd._profiler_enabled())
"""


def recorded(folder: Path, library: str, *arguments: str) -> Trace:
    native = ("--native", library) if library else ()
    done = run(folder, STEPS, *arguments, options=("--memory", *native))
    assert done.returncode == 0, done.stderr
    if library:
        assert done.stdout == "True\n" * ("profile" in arguments) + "False\n"
    return read_trace(folder / "trace.json")


def allocations(trace: Trace) -> list[Allocation]:
    """In the order of time."""
    rows = [None, *range(len(trace))]
    found = [one for row in rows for one in trace.allocations_of(row)]
    return sorted(found, key=lambda one: one.start_us)


def test_they_are_those_of_the_profiler(library: str, tmp_path: Path) -> None:
    counts = []
    for path in (library, ""):
        trace = recorded(tmp_path, path)
        labels = (
            (trace.op(one.op_id).label, one.bytes, one.device)
            for one in allocations(trace)
            if one.op_id is not None and trace.op(one.op_id).kind == "op"
        )
        counts.append(Counter(labels))
    assert counts[0] == counts[1]
    assert counts[0].total() > 50


def test_sums_are_the_totals_in_every_thread(library: str, tmp_path: Path) -> None:
    held = 0
    found = allocations(recorded(tmp_path, library, "thread"))
    for one in found:
        held += one.bytes
        assert held == one.total_bytes
    addresses = {one.address for one in found if one.bytes > 0}
    assert {one.address for one in found if one.bytes < 0} <= addresses


def test_the_programs_own_profiler_has_the_allocators(library: str, tmp_path: Path) -> None:
    trace = recorded(tmp_path, library, "profile")
    (told,) = (one for one in trace.meta.problems if "memory" in one)
    assert told.endswith("memory that was allocated or freed meanwhile is missing")
    adds = [op for op in trace.ops() if op.label == "aten::addmm"]
    having = [bool(trace.allocations_of(op.id)) for op in adds]
    assert having == [True] * 4 + [False] * 4 + [True] * 2


FORKS = """\
import os, threading
import torch
end = threading.Event()


def work():
    while not end.is_set():
        torch.ones(8).add(1)


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
done = 0
for _ in range(8):
    child = os.fork()
    if child == 0:
        torch.ones(3).neg()
        os._exit(0)
    done += os.waitpid(child, 0)[1] == 0
end.set()
for thread in threads:
    thread.join()
print(done)
"""


def test_forks_beside_threads_never_wait_for_the_allocator(library: str, tmp_path: Path) -> None:
    done = run(tmp_path, FORKS, options=("--memory", "--children", "--native", library))
    assert (done.returncode, done.stdout) == (0, "8\n"), done.stderr
    files = list(tmp_path.glob("trace-*.json"))
    assert len(files) == 8
    for file in files:
        trace = read_trace(file)
        assert trace.meta.complete
        told = any("memory is not recorded" in one for one in trace.meta.problems)
        assert bool(allocations(trace)) != told
