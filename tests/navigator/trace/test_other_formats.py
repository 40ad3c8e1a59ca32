"""ExecutionTrace files of both generations, memory snapshots, logs of TORCH_TRACE."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from navigator.trace.figures.blocks import ledgers
from navigator.trace.readers import read_trace
from navigator.trace.trace import BadTrace, Trace
from navigator.trace.views import VIEWS, no_links

PROGRAM = """\
import torch
from torch.profiler import ExecutionTraceObserver

layer = torch.nn.Linear(4, 4)
observer = ExecutionTraceObserver()
observer.register_callback("execution.json")
observer.start()
layer(torch.ones(2, 4)).relu().sum().backward()
observer.stop()
observer.unregister_callback()

@torch.compile(backend="aot_eager")
def compiled(x):
    y = layer(x).relu()
    return (y * 2).sum()

compiled(torch.ones(2, 4)).backward()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where torch wrote an ExecutionTrace and a log of its compiler."""
    folder = tmp_path_factory.mktemp("formats")
    (folder / "program.py").write_text(PROGRAM)
    environment = os.environ | {"TORCH_TRACE": str(folder / "logs")}
    subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        check=True,
        env=environment,
        capture_output=True,
        timeout=300,
    )
    return folder


def first_generation(new: dict[str, Any]) -> dict[str, Any]:
    """The same trace as torch 1.13 to 2.2 wrote it: see writeJsonNode there."""
    nodes = []
    for node in new["nodes"]:
        facts = {attribute["name"]: attribute["value"] for attribute in node["attrs"]}
        inputs, outputs = node["inputs"], node["outputs"]
        nodes.append(
            {
                "name": node["name"],
                "id": node["id"],
                "rf_id": facts["rf_id"],
                "parent": node["ctrl_deps"],
                "fw_parent": facts["fw_parent"],
                "seq_id": facts["seq_id"],
                "scope": facts["scope"],
                "tid": facts["tid"],
                "fw_tid": facts["fw_tid"],
                "op_schema": facts["op_schema"],
                "inputs": inputs["values"],
                "input_shapes": inputs["shapes"],
                "input_types": inputs["types"],
                "outputs": outputs["values"],
                "output_shapes": outputs["shapes"],
                "output_types": outputs["types"],
            }
        )
    return {"schema": "1.0.1", "pid": 1, "time": "", "start_ts": 0, "nodes": nodes, "finish_ts": 1}


@pytest.fixture(scope="module", params=["second", "first"])
def execution(request: pytest.FixtureRequest, folder: Path) -> Trace:
    file = folder / "execution.json"
    if request.param == "first":
        old = folder / "old.json"
        old.write_text(json.dumps(first_generation(json.loads(file.read_text())), indent=1))
        file = old
    return read_trace(file)


def test_an_execution_trace_is_a_tree_with_nodes_and_their_operators(execution: Trace) -> None:
    assert not execution.meta.problems
    assert execution.meta.format == "execution trace"
    linear = next(op for op in execution.ops() if op.name == "aten::linear")
    below = [execution.op(row) for row in execution.table.descendants(linear.id)]
    addmm = next(op for op in below if op.name == "aten::addmm")
    assert [str(v) for v in addmm.inputs[:3]] == ["float32[4]", "float32[2, 4]", "float32[4, 4]"]
    assert addmm.output == "float[2, 4]"
    assert {op.full_name for op in below} >= {"t", "transpose.int"}
    node = next(op for op in execution.ops() if op.kind == "node" and op.name == "AddmmBackward0")
    assert node.forward_id == addmm.id
    assert {op.device for op in below} == {"cpu"}


def test_an_execution_trace_that_was_cut(folder: Path, tmp_path: Path) -> None:
    data = (folder / "execution.json").read_bytes()
    file = tmp_path / "cut.json"
    file.write_bytes(data[: len(data) // 2])
    trace = read_trace(file)
    assert 10 < len(trace) < 200
    assert any("ends in the middle" in problem for problem in trace.meta.problems)


def test_attributes_of_a_strange_kind_do_no_harm(tmp_path: Path) -> None:
    attributes = [{"name": {"a": 1}, "value": 3}, {"name": ["x"]}, 7, {"name": "tid", "value": 4}]
    node = {"id": 1, "name": "aten::add", "ctrl_deps": {}, "attrs": attributes, "inputs": []}
    file = tmp_path / "strange.json"
    file.write_text(json.dumps({"schema": "1.1.1", "nodes": [node]}))
    assert [(op.name, op.thread) for op in read_trace(file).ops()] == [("aten::add", 4)]


def test_an_undefined_tensor_is_none(tmp_path: Path) -> None:
    """A convolution without bias seemed to be given one of an odd type."""
    types = ["Tensor(float)", "Tensor(nullptr (uninitialized))", "Int"]
    node = {"id": 1, "name": "aten::add", "ctrl_deps": 0, "attrs": []}
    node["inputs"] = {"values": [[], [], 3], "shapes": [[2], [], []], "types": types}
    file = tmp_path / "undefined.json"
    file.write_text(json.dumps({"schema": "1.1.1", "nodes": [node]}))
    assert [[*map(str, op.inputs)] for op in read_trace(file).ops()] == [["float32[2]", "-", "3"]]


def test_a_log_of_the_compiler_gives_each_operator_its_line(folder: Path) -> None:
    trace = read_trace(folder / "logs")
    lines = PROGRAM.splitlines()
    for op in trace.ops():
        if op.kind == "op":
            assert op.user is not None
            assert op.user.path == str(folder / "program.py")
    relu = next(op for op in trace.ops() if op.full_name == "relu")
    assert relu.user is not None
    assert "relu()" in lines[relu.user.line - 1]
    assert {op.phase for op in trace.ops() if op.full_name == "threshold_backward"} == {"backward"}
    assert trace.meta.torch


def snapshot(frames: list[dict[str, object]]) -> dict[str, object]:
    entry = {"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "frames": frames}
    free = {"action": "free_completed", "addr": 4096, "size": 512, "stream": 0, "frames": []}
    return {"segments": [], "device_traces": [[], [entry, free]], "allocator_settings": {}}


def test_a_memory_snapshot_has_the_exact_lines(tmp_path: Path) -> None:
    frames = [
        {"filename": "CUDACachingAllocator.cpp", "line": 1, "name": "malloc"},
        {"filename": "/x/torch/nn/modules/linear.py", "line": 125, "name": "forward"},
        {"filename": "/home/me/train.py", "line": 30, "name": "step"},
    ]
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(pickle.dumps(snapshot(frames)))
    trace = read_trace(file)
    alloc, free = trace.ops()
    assert (alloc.name, alloc.output, alloc.device) == ("alloc", "512 B cuda:1", "cuda:1")
    assert str(alloc.user) == "/home/me/train.py:30"
    assert alloc.user_exact
    assert free.name == "free_completed"
    assert trace.table.allocated == {0: 512}


def test_a_memory_snapshot_tells_allocated_against_reserved(tmp_path: Path) -> None:
    here = [{"filename": "/home/me/train.py", "line": 30, "name": "step"}]
    history = [
        ("free_requested", 1 << 20, 300),  # from before the history
        ("segment_alloc", 2 << 20, 2048),
        ("alloc", 2 << 20, 512),
        ("free_requested", 2 << 20, 512),
        ("free_completed", 2 << 20, 512),
        ("alloc", 2 << 20, 256),
    ]
    entries = [
        {"action": action, "addr": address, "size": size, "time_us": 50 + at, "frames": here}
        for at, (action, address, size) in enumerate(history)
    ]
    segments = [
        {"device": 0, "total_size": 4096, "allocated_size": 100},
        {"device": 0, "total_size": 2048, "allocated_size": 256},
    ]
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(pickle.dumps({"segments": segments, "device_traces": [entries]}))
    trace = read_trace(file)
    blocks, reserved = ledgers(trace)
    assert (blocks.device, blocks.totals) == ("cuda:0", [100, 612, 100, 356])
    assert (reserved.device, reserved.totals) == ("cuda:0 reserved", [6144])
    assert len(blocks.earlier) == 1
    view = VIEWS["memory"](trace, no_links)
    by_device = {row["device"]: row for row in view.rows if "kept_bytes" in row}
    assert {row["line"] for row in by_device.values()} == {"/home/me/train.py:30"}
    assert by_device["cuda:0"]["peak_bytes"] == 512
    assert by_device["cuda:0"]["kept_bytes"] == 256
    assert by_device["cuda:0 reserved"]["bytes"] == 2048
    assert view.notes[0].startswith("cuda:0: peak 612 B, 6.1 kB reserved at 2.0us, in alloc")
    assert "cuda:0: at the end 356 B allocated of 6.1 kB reserved" in view.notes


class Harmful:
    def __reduce__(self) -> Any:
        return (os.system, ("echo harm > harmed",))


@pytest.mark.parametrize("content", [b"\x80", b"\x80\x04.", b"\x80\x05]\x94.", b"\x80\x04K\x01."])
def test_pickles_that_are_no_snapshot_are_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bad.pickle"
    file.write_bytes(content)
    with pytest.raises(BadTrace):
        read_trace(file)


def test_a_pickle_that_names_code_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "harm.pickle"
    file.write_bytes(pickle.dumps({"segments": Harmful()}))
    with pytest.raises(BadTrace, match="names code"):
        read_trace(file)
    assert not (tmp_path / "harmed").exists()


def test_a_folder_without_logs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadTrace, match="no log"):
        read_trace(tmp_path)
