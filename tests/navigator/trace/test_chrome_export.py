"""A trace written as a plain Chrome trace, and read back."""

from __future__ import annotations

import errno
import gzip
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from navigator.cli.main import main
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from navigator.trace.writers.chrome import write_chrome
from tests.navigator.trace.programs import STEP, run

needs_compiler = pytest.mark.skipif(
    shutil.which("g++") is None and shutil.which("clang++") is None, reason="no C++ compiler"
)
_GRAPH = """\
import torch
from torch.profiler import ExecutionTraceObserver
observer = ExecutionTraceObserver().register_callback("et.json")
observer.start()
torch.ones(2, 3, requires_grad=True).mul(2).sum().backward()
observer.stop()
observer.unregister_callback()
"""


def facts(trace: Trace) -> Counter[tuple[object, ...]]:
    """Everything that a row says, with labels for ids."""
    return Counter(_row(trace, op.id) for op in trace.ops())


def _row(trace: Trace, row: int) -> tuple[object, ...]:
    op, made = trace.op(row), trace.backward_of(row)
    of_row = (op.label, op.kind, op.phase, op.origin, op.sequence, op.thread, op.inputs, op.output)
    times = (op.start_us, op.duration_us, op.unfinished)
    place = (op.user, op.user_exact, op.stack, op.module, op.device, op.layout, op.keys)
    kernels = [(k.name, k.kind, k.start_us, k.device, k.launch) for k in trace.kernels_of(row)]
    memory = [(a.bytes, a.address, a.total_bytes, a.device) for a in trace.allocations_of(row)]
    links = [label(trace, one) for one in (op.parent, op.forward_id, op.node_id, made)]
    return (of_row, times, place, *links, tuple(kernels), tuple(memory))


def label(trace: Trace, row: int | None) -> str:
    return "" if row is None else f"{trace.op(row).label}@{trace.op(row).start_us}"


def there_and_back(trace: Trace, folder: Path) -> list[dict[str, Any]]:
    """The events of the export, once it is sure that reading them gives the same trace."""
    file = folder / "chrome.json.gz"
    assert write_chrome(trace, file) > len(trace.roots())
    again = read_trace(file)
    assert facts(again) == facts(trace)
    assert again.meta.format == trace.meta.format
    assert (again.meta.complete, again.meta.problems) == (trace.meta.complete, trace.meta.problems)
    assert again.table.definitions == trace.table.definitions
    assert len(again.table.allocations) == len(trace.table.allocations)
    assert again.table.storages == trace.table.storages
    events: list[dict[str, Any]] = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    return events


def arrows(events: list[dict[str, Any]], category: str) -> int:
    """How many there are, once it is sure that each leads from one event to another."""
    slices = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
    ends = [e for e in events if e["ph"] in ("s", "f")]
    assert {(e["pid"], e["tid"], e["ts"]) for e in ends} <= slices
    both = {ph: [e["id"] for e in ends if e["ph"] == ph] for ph in ("s", "f")}
    assert sorted(both["s"]) == sorted(both["f"])
    assert len(set(both["s"])) == len(both["s"])
    return [e["cat"] for e in ends].count(category) // 2


def test_profiles_of_others(profile_file: Path, tmp_path: Path) -> None:
    profile = read_trace(profile_file)
    events = there_and_back(profile, tmp_path)
    assert arrows(events, "ac2g") == len(profile.table.kernels)
    shown = Counter(e["cat"] for e in events if e["ph"] == "X")
    assert shown["kernel"] == sum(k.kind == "kernel" for k in profile.kernels())


def test_a_recorded_step(step: Trace, tmp_path: Path) -> None:
    events = there_and_back(step, tmp_path)
    nodes = [op for op in step.ops() if op.kind == "node" and op.forward_id is not None]
    assert arrows(events, "fwdbwd") == len(nodes) > 20
    assert any("Input Dims" in e["args"] for e in events if e.get("name") == "aten::addmm")


def test_subclasses_threads_checkpoints_and_hooks(mixed: Trace, tmp_path: Path) -> None:
    there_and_back(mixed, tmp_path)


@needs_compiler
def test_viewers_see_what_the_compiled_recorder_writes_as_columns(
    library: str, tmp_path: Path
) -> None:
    assert run(tmp_path, STEP, "own.json", options=("--native", library)).returncode == 0
    trace = read_trace(tmp_path / "trace.json")
    raw = json.loads((tmp_path / "trace.json").read_text())
    assert not any(e.get("cat") == "cpu_op" for e in raw)
    events = there_and_back(trace, tmp_path)
    shown = Counter(e["name"] for e in events if e.get("cat") == "cpu_op")
    assert shown["aten::addmm"] == sum(op.name == "aten::addmm" for op in trace.ops()) > 0
    assert arrows(events, "fwdbwd") > 20
    lanes_nest(events)


def lanes_nest(events: list[dict[str, Any]]) -> None:
    """Viewers drop a slice that begins in another one of its lane and ends behind it."""
    open_: dict[tuple[object, object], list[float]] = {}
    slices = [e for e in events if e["ph"] == "X"]
    for event in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        around = open_.setdefault((event["pid"], event["tid"]), [])
        while around and around[-1] <= event["ts"]:
            around.pop()
        end = event["ts"] + event["dur"]
        assert not around or end <= around[-1] + 1e-3, event
        around.append(end)


def test_what_memory_is_for_and_what_never_ended(tmp_path: Path) -> None:
    program = "import torch\nnet = torch.nn.Linear(3, 3)\nnet(torch.ones(2, 3)).sum().backward()"
    assert run(tmp_path, program, options=("--memory",)).returncode == 0
    trace = read_trace(tmp_path / "trace.json")
    assert len(trace.table.allocations) > 3
    assert trace.table.storages
    trace.table.unfinished.add(trace.roots()[-1])
    there_and_back(trace, tmp_path)


def test_a_trace_without_times_keeps_its_tree(tmp_path: Path) -> None:
    assert run(tmp_path, _GRAPH, record=False).returncode == 0
    trace = read_trace(tmp_path / "et.json")
    assert len(trace) > 5
    assert not any(trace.table.duration)
    lanes_nest(there_and_back(trace, tmp_path))


def test_on_the_command_line(
    tmp_path: Path, profile_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    assert main(["export", "trace", str(profile_file), "--chrome", str(out)]) == 0
    assert f"{len(json.loads(out.read_text())['traceEvents'])} events" in capsys.readouterr().err
    missing = tmp_path / "no" / "out.json"
    assert main(["export", "trace", str(profile_file), "--chrome", str(missing)]) == 1
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_a_file_stays_as_it_was_if_it_cannot_be_written_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    out, trace = tmp_path / name, tmp_path / "trace.json"
    trace.write_text(
        '[{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":1}]'
    )
    assert main(["export", "trace", str(trace), "--chrome", str(out)]) == 0
    before = out.read_bytes()

    def disk_is_full(_trace: Trace) -> Iterator[dict[str, Any]]:
        yield {"name": "first"}
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("navigator.trace.writers.chrome.chrome_events", disk_is_full)
    assert main(["export", "trace", str(trace), "--chrome", str(out)]) == 1
    assert f"cannot write {out}: No space left on device" in capsys.readouterr().err
    assert out.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == [name, "trace.json"]
