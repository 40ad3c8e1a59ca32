"""A program that is killed or crashes leaves what it was doing, and its user's line."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from indexes.model.errors import NotFound
from indexes.queries.index import Index
from navigator.trace.link import Linker
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from navigator.trace.why import explain_trace
from tests.navigator.trace.programs import RECORDER, line_of, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs posix_fallocate")

PROGRAM = """\
import ctypes, os, signal, sys, threading
import torch


def die():
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "segfault":
        ctypes.string_at(0)
    ctypes.CDLL(None)._exit(3)


@torch.library.custom_op("torchnav_test::dies", mutates_args=())
def dies(x: torch.Tensor) -> torch.Tensor:
    y = x * 3
    die()
    return y


def work():
    y = x.neg()
    if where == "inside":
        dies(y)  # LINE inside
    y.exp()  # LINE after
    die()


how, where, thread, count = sys.argv[1:]
x = torch.ones(3)
for _ in range(int(count)):
    x.mul(1.0)
if thread == "thread":
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
else:
    work()
"""
STATUS = {"kill": -9, "segfault": -11, "exit": 3}


def died(folder: Path, library: str, *arguments: str) -> Trace:
    done = run(folder, PROGRAM, *arguments, options=("--native", library) if library else ())
    assert done.returncode == STATUS[arguments[0]], done.stderr
    trace = read_trace(folder / "trace.json")
    assert not trace.meta.complete
    return trace


def told_by_why(trace: Trace, tree_index: Index) -> None:
    told = f"no error .* died in torchnav_test::dies, program.py:{line_of(PROGRAM, 'inside')}"
    with pytest.raises(NotFound, match=told):
        explain_trace(trace, Linker(trace, tree_index))


@pytest.mark.parametrize("how", STATUS)
@pytest.mark.parametrize("thread", ["main", "thread"])
def test_the_operator_that_was_running_is_kept_and_told_by_why(
    library: str, tmp_path: Path, how: str, thread: str, tree_index: Index
) -> None:
    trace = died(tmp_path, library, how, "inside", thread, "3")
    line = line_of(PROGRAM, "inside")
    assert trace.meta.problems == [f"died in torchnav_test::dies, program.py:{line}"]
    running = [op for op in trace.ops() if op.unfinished]
    assert [op.name for op in running] == ["torchnav_test::dies"]
    assert running[0].user
    assert running[0].user.line == line
    below = [trace.op(row) for row in trace.children(running[0].id)]
    assert [op.label for op in below] == ["aten::mul.Tensor"], "what it had called has ended"
    told_by_why(trace, tree_index)


@pytest.mark.parametrize("how", STATUS)
def test_what_ended_just_before_is_kept(library: str, tmp_path: Path, how: str) -> None:
    trace = died(tmp_path, library, how, "after", "thread", "5000")
    line = line_of(PROGRAM, "after")
    assert trace.meta.problems == [
        f"died outside of any operator, after aten::exp, program.py:{line}"
    ]
    assert not any(op.unfinished for op in trace.ops())
    counts = Counter(op.label for op in trace.ops())
    assert (counts["aten::mul.Tensor"], counts["aten::neg"], counts["aten::exp"]) == (5000, 1, 1)
    assert all(op.device == "cpu" for op in trace.ops() if op.kind == "op")


@pytest.mark.parametrize("thread", ["main", "thread"])
def test_without_a_compiler_the_call_is_kept(tmp_path: Path, thread: str) -> None:
    trace = died(tmp_path, "", "kill", "inside", thread, "3")
    line = line_of(PROGRAM, "inside")
    name = "torch.ops.torchnav_test.dies"
    died_in, cut = trace.meta.problems
    assert died_in == f"died in {name}, program.py:{line}"
    assert re.fullmatch(r"the recording was cut off: .* missing: \d calls? .* no operators", cut)
    assert [(op.name, op.kind) for op in trace.ops() if op.unfinished] == [(name, "call")]


def test_without_a_compiler_the_last_call_is_named(tmp_path: Path) -> None:
    trace = died(tmp_path, "", "segfault", "after", "thread", "3")
    place = f"program.py:{line_of(PROGRAM, 'after')}"
    told = f"died outside of any operator, after torch.Tensor.exp, {place}"
    assert trace.meta.problems[0] == told
    assert not any(op.unfinished for op in trace.ops())
    counts = Counter(op.label for op in trace.ops() if op.kind == "call")
    assert counts["torch.Tensor.mul"] == 3
    assert counts["torch.Tensor.exp"] == 1, "the file is written five times a second"


def test_a_tail_that_is_damaged_is_no_tail(library: str, tmp_path: Path) -> None:
    died(tmp_path, library, "kill", "inside", "main", "3")
    tail = tmp_path / "trace.json.tail"
    whole = tail.read_bytes()
    for damaged in (b"", whole[:100], whole[:4096], b"x" * len(whole), b"\xff" * 4096):
        tail.write_bytes(damaged)
        problems = read_trace(tmp_path / "trace.json").meta.problems
        assert any("cut off" in one for one in problems)
    geometry = whole[:8] + b"\x7f" * 100 + whole[108:]
    tail.write_bytes(geometry)
    assert read_trace(tmp_path / "trace.json").meta.problems


def test_a_recording_that_goes_on_is_not_dead(library: str, tmp_path: Path) -> None:
    program = "import torch\ntorch.ones(3).neg()\nprint('here', flush=True)\ninput()\n"
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, str(RECORDER), "-o", "trace.json", "--native", library, "program.py"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "here\n"
        problems = read_trace(tmp_path / "trace.json").meta.problems
        assert problems == ["the program still runs: what it does now is missing"]
        process.communicate("\n")
    assert read_trace(tmp_path / "trace.json").meta.complete
    assert not list(tmp_path.glob("*.tail")), "it ended well"
