"""Readers of traces: any file is a trace or is rejected in one line."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pickle
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.fuzz.targets import DATA, Run, Target, pieces
from navigator.trace.html_report import notebook_html
from navigator.trace.readers import read_trace
from navigator.trace.summary import summary_lines
from navigator.trace.trace import Trace

_EVENTS = 10
"""Maximum size of a seed."""


def _read(folder: Path) -> Run:
    file = folder / "trace"

    def run(data: bytes) -> object:
        file.write_bytes(data)
        return _looked_at(read_trace(file))

    return run


def _looked_at(trace: Trace) -> object:
    """The first queries of every face."""
    ops = [*trace.ops()][:50]
    lines = [*summary_lines(trace)]
    return [
        ops,
        lines,
        [*trace.kernels()][:50],
        notebook_html(trace) if len(lines) % 8 == 0 else "",
    ]


def _chrome_seeds() -> list[bytes]:
    """Small traces of real events."""
    found: list[bytes] = []
    for path in sorted((DATA / "traces").rglob("*.json.gz")):
        whole = json.loads(gzip.decompress(path.read_bytes()))
        listed = whole if isinstance(whole, dict) else {"traceEvents": whole}
        events = listed.pop("traceEvents")
        for start in range(0, min(len(events), 4000), 200):
            part = {**listed, "traceEvents": events[start : start + _EVENTS]}
            found.append(json.dumps(part).encode())
    for path in sorted((DATA / "compiled_program").glob("*.json")):
        listed = json.loads(path.read_bytes())
        events = listed["traceEvents"] if isinstance(listed, dict) else listed
        found += [json.dumps(events[at : at + 30]).encode() for at in range(0, len(events), 30)]
    return found


def _own_seeds() -> list[bytes]:
    """Events of torchnav, together with those of kineto."""
    names = "run stack call window backward problem end program what step limit".split()
    args: list[dict[str, Any]] = [
        {"format": 1, "argv": ["a.py"], "cwd": "/x", "torch": "2.7.0"},
        {"stack": 1, "frames": [["/x/a.py", 3, "f"], ["/x/b.py", 9, "g"]]},
        {
            "call": 1,
            "stack": 1,
            "inputs": [{"shape": [2, 2], "dtype": "float32"}],
            "places": ["cpu"],
        },
        {"status": 0, "complete": True},
    ]
    own = [{"ph": "M", "name": f"torchnav_{name}", "args": one} for name in names for one in args]
    plain = json.loads(_chrome_seeds()[0])["traceEvents"][:5]
    call = {"ph": "X", "cat": "torchnav_call", "name": "torch.add", "pid": 1, "tid": 1, "ts": 1}
    call |= {"dur": 2, "args": {"call": 1, "stack": 1, "thread": 1}}
    groups = [[*own[at : at + 9], call, *plain] for at in range(0, len(own), 3)]
    compiled = {"format": 2, "torch": "2.13.0", "recorder": "compiled"}
    whole = [[*_columns(), call], [_own_event("run", compiled), *_columns()]]
    return [json.dumps(events).encode() for events in [*groups, *whole]]


def _own_event(name: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "pid": 1, "tid": 1, "name": f"torchnav_{name}", "args": args}


def _columns() -> list[dict[str, Any]]:
    """Columns of operators, memory, calls and device work."""
    times = {"count": 2, "work": [1, 1], "start": [10, 4], "duration": [3, 2]}
    launched = {**times, "correlation": [7, 1]}
    told = {
        "work": {"work": 1, "cat": "kernel", "name": "void f<int>(int)"},
        "launches": launched,
        "works": {**launched, "device": [0, 0], "stream": [7, 7], "node": [0, 1]},
        "window": {"window": 1, "start_ns": 1, "end_ns": 99, "places": {}, "devices": []},
    }
    return [_own_event(name, args) for name, args in (_OPERATORS | told).items()]


_FRAMES = [["/x/a.py", 3, "f"]]
_OPERATORS: dict[str, dict[str, Any]] = {
    "keys": {"keys": 1, "names": ["AutogradCPU", "CPU"]},
    "stack": {"stack": 1, "frames": _FRAMES, "user": 0},
    "kind": {
        "kind": 1,
        "name": "aten::add.Tensor",
        "keys": 1,
        "Input type": ["float", "Scalar"],
        "Input Dims": [[2, 3], []],
        "Input Strides": [[3, 1], []],
        "Concrete Inputs": ["", "1"],
    },
    "output": {"output": 1, "Output type": ["float"], "Output Dims": [[2]], "Output device": ["m"]},
    "at": {"at": 1, "stack": 1, "module": "Net.fc"},
    "thread": {"forward": 1},
    "tensor": {"tensor": 1, "storage": 1, "offset": 0},
    "called": {"called": 1, "function": "torch.add", "stack": 1, "output": "float32[2] cpu"},
    "calls": {"call": [1, 1], "called": [1, 1], "start": [9, 9], "duration": [8, 8], "closed": 1},
    "ops": {
        "start": [10, 9],
        "duration": [5, 4],
        "sequence": [1, 1],
        "forward": [0, 1],
        "kind": [1, 1],
        "output": [1, 0],
        "at": [1, 0],
        "given": [1, 0],
        "made": [1, 1],
        "tensors": [1, 1, 1],
    },
    "versions": {"start": [11], "storage": [1], "version": [1]},
    "memory": {
        "start": [12, 2],
        "bytes": [64, -64],
        "device": [0, 0],
        "address": [4096, 0],
        "total": [64, -64],
        "devices": ["cpu"],
    },
    "storages": {"time_ns": 5, "parameter": [4096]},
    "definition": {"kind": "operator", "name": "a::b", "path": "/x/a.py", "line": 3},
    "error": {"type": "E", "message": "no", "raised_in": "/x/a.py", "frames": _FRAMES},
    "compile_begin": {"at_ns": 1, "name": "entire_frame_compile", "id": "0/0"},
    "compile_end": {"at_ns": 3},
    "export": {"meta": {"torch": "2.7.0"}, "timed": False, "zero": 0.0},
}


def _packed_seeds() -> list[bytes]:
    return [gzip.compress(one, 1) for one in _chrome_seeds()[:30]] + _chrome_seeds()[:3]


def _execution_seeds() -> list[bytes]:
    attributes = [
        {"name": "rf_id", "type": "uint64", "value": 1},
        {"name": "op_schema", "type": "string", "value": "aten::add(Tensor a) -> Tensor"},
        {"name": "tid", "type": "uint64", "value": 1},
    ]
    nodes = [
        {
            "id": number,
            "name": name,
            "ctrl_deps": max(1, number - 1),
            "inputs": {
                "values": [[1, 2, 0, 4, 4, "cpu"], 1.0],
                "shapes": [[2, 2], []],
                "types": ["Tensor(float)", "Int"],
            },
            "outputs": {"values": [], "shapes": [], "types": []},
            "attrs": attributes,
        }
        for number, name in enumerate(
            (
                "[pytorch|profiler|execution_trace|process]",
                "aten::add",
                "autograd::engine::evaluate_function: AddBackward0",
            ),
            1,
        )
    ]
    whole = {"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes, "finish_ts": 5}
    return [json.dumps(whole).encode(), json.dumps(whole, indent=2).encode()]


def _pickle_seeds() -> list[bytes]:
    frames = [{"filename": "/x/a.py", "line": 3, "name": "f"}] * 3
    entry = {"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "frames": frames}
    more = [entry, {**entry, "action": "free_completed", "time_us": 5}, {**entry, "addr": 8192}]
    segment = {
        "device": 0,
        "address": 4096,
        "total_size": 2048,
        "blocks": [{"size": 512, "state": "active_allocated"}],
    }
    snapshot = {"segments": [segment], "device_traces": [more, []], "allocator_settings": {}}
    return [pickle.dumps(snapshot, protocol) for protocol in (2, 3, 4, 5)]


def _nsys_seeds() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "nsys")
        with closing(sqlite3.connect(file)) as database:
            database.executescript(_NSYS)
            database.commit()
        return [file.read_bytes()]


_NSYS = """
PRAGMA page_size=512;
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,
  textId INTEGER, globalTid INTEGER);
INSERT INTO StringIds VALUES (1,'void k<float>(int)'),(2,'cudaLaunchKernel'),(3,'aten::a, seq = 4');
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5000,7000,0,7,11,1291845632,1);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1500,1600,1291845637,11,2);
INSERT INTO NVTX_EVENTS VALUES (1000,2000,59,'aten::fill_, seq = 3',NULL,1291845637);
INSERT INTO NVTX_EVENTS VALUES (3000,4000,59,NULL,3,1291845638);
"""


def _ncu_seeds() -> list[bytes]:
    out = io.StringIO()
    rows = [
        [
            "ID",
            "Process ID",
            "Kernel Name",
            "Context",
            "Stream",
            "Device",
            "Metric Name",
            "Metric Unit",
            "Metric Value",
        ],
        ["0", "1", "void k<float>(int)", "1", "7", "0", "Duration", "usecond", "1,234.5"],
        ["1", "1", "other", "1", "7", "0", "gpu__time_duration.sum", "ns", "12"],
    ]
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(rows)
    raw = '"ID","Kernel Name","gpu__time_duration.sum"\n"","","us"\n"0","k","3.5"\n'
    return [
        out.getvalue().encode(),
        b"==PROF== Connected\n" + out.getvalue().encode(),
        raw.encode(),
    ]


def _torch_trace(folder: Path) -> Run:
    """Logs of TORCH_TRACE in a folder."""
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)

    def run(data: bytes) -> object:
        (logs / "dedicated_log_torch_trace.log").write_bytes(data)
        return _looked_at(read_trace(logs))

    return run


def _log_seeds() -> list[bytes]:
    return pieces(sorted((DATA / "torch_trace").glob("*.log")), 3000)


_MADE: tuple[tuple[str, Callable[[], list[bytes]]], ...] = (
    ("chrome", _chrome_seeds),
    ("recordings", _own_seeds),
    ("packed traces", _packed_seeds),
    ("execution traces", _execution_seeds),
    ("memory snapshots", _pickle_seeds),
    ("nsys", _nsys_seeds),
    ("ncu", _ncu_seeds),
)
TARGETS = (
    *(Target(name, seeds, _read) for name, seeds in _MADE),
    Target("compiler logs", _log_seeds, _torch_trace),
)
