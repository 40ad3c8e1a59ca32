"""What a program starts is recorded with it, or else is said not to be."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import RECORDER, run

STARTS = """\
import multiprocessing, os, subprocess, sys
import torch
def work(queue):
    queue.put(float((torch.ones(3) * 2).sum()))
if __name__ == "__main__":
    x = torch.ones(3) + 1
    child = os.fork()
    if not child:
        x.div(2)
        sys.exit(3)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        queue = context.SimpleQueue()
        process = context.Process(target=work, args=(queue,))
        process.start()
        print(queue.get())
        process.join()
    loader = torch.utils.data.DataLoader(torch.arange(4), batch_size=2, num_workers=2)
    print([int(batch.sum()) for batch in loader])
    child = "import sys, torch; torch.ones(2).exp(); print(sys.path)"
    print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout)
    subprocess.run([sys.executable, "-c", "print('without torch')"])
    subprocess.run(["true"])
    check = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'pass'], check=True)"
    exec(check, {"__name__": "torch._inductor.cpu_vec_isa"})
    x.sub(1)
"""


def traces(folder: Path) -> dict[str, Trace]:
    return {path.name: read_trace(path) for path in folder.glob("*.json")}


def names(trace: Trace) -> set[str]:
    return {op.full_name for op in trace.ops()}


def told(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("torchnav: ")]


@pytest.fixture(params=["profiler", "compiled"])
def recorder(request: pytest.FixtureRequest) -> tuple[str, ...]:
    if request.param == "profiler":
        return ()
    return ("--native", request.getfixturevalue("library"))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the program prints without us."""
    return run(tmp_path_factory.mktemp("plain"), STARTS, record=False).stdout


def test_children_are_left_alone_and_counted(
    tmp_path: Path, recorder: tuple[str, ...], printed: str
) -> None:
    done = run(tmp_path, STARTS, options=recorder)
    assert done.stdout == printed, done.stderr
    said = "8 child processes were not recorded: --children"
    assert told(done) == [f"torchnav: {said}"]
    found = traces(tmp_path)
    assert list(found) == ["trace.json"]
    trace = found["trace.json"]
    assert said in trace.meta.problems
    assert trace.meta.complete
    assert {"add.Tensor", "sub.Tensor"} <= names(trace)
    assert not {"mul.Tensor", "div.Tensor", "exp"} & names(trace)


def test_children_are_recorded_each_in_a_file_of_its_own(
    tmp_path: Path, recorder: tuple[str, ...], printed: str
) -> None:
    done = run(tmp_path, STARTS, options=("--children", *recorder))
    assert done.stdout == printed, done.stderr
    found = traces(tmp_path)
    assert told(done)[0].startswith("torchnav: 7 child processes recorded too: trace-")
    assert len(found) == 8
    assert all(trace.meta.complete for trace in found.values())
    counts = Counter(name for trace in found.values() for name in names(trace))
    assert [counts[name] for name in ("div.Tensor", "mul.Tensor", "exp", "cat.out")] == [1, 3, 1, 2]
    lines = {
        op.user.line for t in found.values() for op in t.ops() if op.user and op.name == "aten::mul"
    }
    assert lines == {4}


INSIDE = """\
import os, sys
import torch
from torch.profiler import record_function
with record_function("block"):
    x = torch.ones(3)
    if not os.fork():
        x.neg()
        sys.exit(0)
    os.wait()
x.sub(1)
"""


def test_a_child_forked_where_the_profiler_cannot_stop_is_said_not_to_be_recorded(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, INSIDE, options=("--children",))
    assert done.returncode == 0
    assert told(done) == ["torchnav: 1 child process was not recorded"]
    assert list(traces(tmp_path)) == ["trace.json"]


FORKS = """\
import os, torch
x = torch.ones(3)
for _ in range(3):
    if not os.fork():
        os._exit(0)
    x.exp()
    x.sin()
    os.wait()
"""


def test_the_first_call_after_a_fork_is_recorded(tmp_path: Path) -> None:
    assert run(tmp_path, FORKS).returncode == 0
    counts = Counter(op.name for op in traces(tmp_path)["trace.json"].ops())
    assert (counts["aten::exp"], counts["aten::sin"]) == (3, 3)


RANKS = """\
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(3) * dist.get_rank()
dist.all_reduce(x)
assert x.tolist() == [1.0] * 3
dist.destroy_process_group()
"""


def test_the_ranks_that_a_launcher_starts_are_recorded(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(RANKS)
    recorder = [sys.executable, str(RECORDER), "-o", "run.json", "--children"]
    launcher = ["-m", "torch.distributed.run", "--nproc_per_node=2", "--standalone", "program.py"]
    done = subprocess.run(
        [*recorder, *launcher],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    told_of = "torchnav: 2 child processes recorded too: run-rank0.json, run-rank1.json"
    assert told_of in told(done)
    found = traces(tmp_path)
    assert {name: trace.meta.rank for name, trace in found.items()} == {
        "run.json": None,
        "run-rank0.json": 0,
        "run-rank1.json": 1,
    }
    for rank in range(2):
        assert "c10d::allreduce_" in {op.name for op in found[f"run-rank{rank}.json"].ops()}


def test_two_ranks_with_one_name_write_two_files(tmp_path: Path) -> None:
    """Also without a rank in the environment: both run at the same time."""
    program = "import sys, torch\ntorch.ones(2).neg()\nprint(flush=True)\nsys.stdin.read()\n"
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, str(RECORDER), "-o", "run.json", "program.py"]
    environ = {name: value for name, value in os.environ.items() if name != "RANK"}
    pipe = subprocess.PIPE
    both = []
    for rank in ({}, {}, {"RANK": "0"}, {"RANK": "1"}):
        one = subprocess.Popen(
            command, cwd=tmp_path, env=environ | rank, stdin=pipe, stdout=pipe, stderr=pipe
        )
        assert one.stdout is not None
        one.stdout.readline()
        both.append(one)
    said = [one.communicate(b"", timeout=300)[1].decode() for one in both]
    assert [one.returncode for one in both] == [0] * 4
    first, second = tmp_path / "run.json", tmp_path / "run-2.json"
    assert said[1] == f"torchnav: another process writes {first}: recording to {second}\n"
    assert said[0] == said[2] == said[3] == ""
    found = traces(tmp_path)
    assert set(found) == {"run.json", "run-2.json", "run-rank0.json", "run-rank1.json"}
    assert all("neg" in names(trace) for trace in found.values())


def test_a_run_says_what_the_page_of_the_format_names(
    tmp_path: Path, recorder: tuple[str, ...]
) -> None:
    assert run(tmp_path, "import torch\ntorch.ones(3)\n", options=recorder).returncode == 0
    page = RECORDER.parents[2] / "docs/trace-format.md"
    (row,) = re.findall(r"^\| `torchnav_run` \| (.*)", page.read_text(), re.MULTILINE)
    fields = set(re.findall(r"`([a-z_]+)`", row)) - {"torchnav_definition"}
    events = json.loads((tmp_path / "trace.json").read_bytes())
    (said,) = (one["args"] for one in events if one.get("name") == "torchnav_run")
    assert "lacks" in fields
    assert fields - said.keys() == set()
