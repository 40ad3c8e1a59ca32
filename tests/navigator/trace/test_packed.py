"""What a file is, its content says: gzip, zstd, tar, one in the other, under any name."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from navigator.trace.readers import read_trace
from navigator.trace.trace import BadTrace, Trace

ADD = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1, "dur": 2}
CHROME = json.dumps({"traceEvents": [ADD]}).encode()
BARE = json.dumps([ADD]).encode()
NODE = {"id": 2, "name": "aten::add", "ctrl_deps": 1, "attrs": [], "inputs": {}, "outputs": {}}
EXECUTION = json.dumps({"schema": "1.1.1-chakra.0.0.4", "nodes": [NODE]}).encode()


def archive(*members: tuple[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as file:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return made.getvalue()


def in_archive(content: bytes) -> bytes:
    return archive(("._x.json", b"\0\5\x16\7 of a Mac"), ("folder/x.json", content))


def in_zstd(content: bytes) -> bytes:
    try:
        return bytes(importlib.import_module("compression.zstd").compress(content))
    except ImportError:
        zstandard = pytest.importorskip("zstandard")
        return bytes(zstandard.ZstdCompressor().compress(content))


PACKINGS: list[Callable[[bytes], bytes]] = [
    bytes,
    gzip.compress,
    in_archive,
    in_zstd,
    lambda content: gzip.compress(in_archive(content)),
    lambda content: in_archive(content) + b"\0" * 10240,
]


@pytest.mark.parametrize("pack", PACKINGS)
@pytest.mark.parametrize("content", [CHROME, BARE, EXECUTION])
def test_the_content_decides(
    tmp_path: Path, pack: Callable[[bytes], bytes], content: bytes
) -> None:
    file = tmp_path / "misleading.txt"
    file.write_bytes(pack(content))
    trace = read_trace(file)
    assert [op.name for op in trace.ops()] == ["aten::add"]
    assert trace.meta.format == ("execution trace" if content is EXECUTION else "kineto")
    assert not trace.meta.problems


def test_other_traces_of_an_archive_are_named(tmp_path: Path) -> None:
    file = tmp_path / "ranks.tar"
    file.write_bytes(archive(("a.json", CHROME), ("notes", b"none"), ("b.json", BARE)))
    trace = read_trace(file)
    assert len(trace) == 1
    assert trace.meta.problems == ["the archive holds 1 more, which are not shown: b.json"]


@pytest.mark.parametrize("layers", [1, 2])
def test_what_hardly_ends_is_refused_at_a_bound(tmp_path: Path, layers: int) -> None:
    content = b'{"traceEvents": [' + b" " * (100 << 20)
    for _ in range(layers):
        content = gzip.compress(content)
    file = tmp_path / "bomb.json.gz"
    file.write_bytes(content)
    with pytest.raises(BadTrace, match="times its size"):
        read_trace(file)


def test_zstd_that_nothing_here_reads_says_what_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "trace"
    file.write_bytes(b"\x28\xb5\x2f\xfd" + b"\0" * 20)

    def nothing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", nothing)
    with pytest.raises(BadTrace, match=r"torchnav\[zstd\]"):
        read_trace(file)


def test_an_archive_without_a_trace_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.tar"
    file.write_bytes(archive(("notes", b"none")))
    with pytest.raises(BadTrace, match="holds no trace"):
        read_trace(file)


def test_of_a_cut_archive_what_came_before_the_cut(tmp_path: Path) -> None:
    many = json.dumps({"traceEvents": [ADD | {"ts": n * 3} for n in range(2000)]}).encode()
    file = tmp_path / "cut.tar"
    file.write_bytes(archive(("x.json", many))[: len(many) // 2])
    trace = read_trace(file)
    assert 100 < len(trace) < 2000
    assert any("ends in the middle" in problem for problem in trace.meta.problems)


# ------------------------------------------------------------------------- other devices


def trace_of(folder: Path, *events: dict[str, object]) -> Trace:
    file = folder / "trace.json"
    file.write_text(json.dumps({"traceEvents": events}))
    return read_trace(file)


def test_work_of_an_mtia(tmp_path: Path) -> None:
    """As facebookresearch/HolisticTraceAnalysis has it."""
    known = {"ph": "X", "cat": "mtia_ccp_events", "pid": 9, "tid": 4, "dur": 5}
    launch = {"ph": "X", "cat": "mtia_runtime", "name": "runFunction", "pid": 1, "tid": 1}
    trace = trace_of(
        tmp_path,
        ADD | {"dur": 10},
        launch | {"ts": 3, "dur": 2, "args": {"correlation": 7}},
        known | {"name": "add-dtype_Float", "ts": 20, "args": {"correlation": 7, "stream": 1}},
        known | {"name": "dma_request", "ts": 30, "args": {"direction": "DEVICE_TO_HOST"}},
        known | {"name": "event_wait", "ts": 40, "args": {"stream": 2, "seq_num": 5}},
    )
    kernel, copy = trace.kernels()
    assert (kernel.kind, kernel.op_id, kernel.device, kernel.stream) == ("kernel", 0, "mtia:9", "1")
    assert (copy.kind, copy.op_id) == ("memcpy", None)
    assert trace.op(0).device == "mtia:9"


def test_work_of_an_xpu(tmp_path: Path) -> None:
    launch = {"ph": "X", "cat": "xpu_runtime", "name": "urEnqueueKernelLaunch", "pid": 1, "tid": 1}
    kernel = {"ph": "X", "cat": "kernel", "name": "add", "pid": 0, "tid": 4, "ts": 20, "dur": 5}
    trace = trace_of(
        tmp_path,
        ADD | {"dur": 10},
        launch | {"ts": 3, "dur": 2, "args": {"correlation": 7}},
        kernel | {"args": {"correlation": 7, "device": 0}},
    )
    assert [kernel.op_id for kernel in trace.kernels()] == [0]
    assert trace.op(0).device == "xpu:0"


def test_work_of_an_ascend_npu(tmp_path: Path) -> None:
    """Tasks have no category; torch_npu draws the arrow from the operator's own start."""
    arrow = {"cat": "async_npu", "name": "torch_to_npu", "id": 1700000000000123456, "bp": "e"}
    start = "1700000000000123.456"
    task = {"ph": "X", "name": "aclnnAdd_AddAiCore_Add", "pid": 9, "tid": 3, "dur": 5}
    trace = trace_of(
        tmp_path,
        ADD | {"ts": "1700000000000100.000", "dur": 10},
        task | {"ts": start, "args": {"Task Type": "AI_CORE", "Stream Id": 3}},
        task | {"ts": start, "name": "wait", "args": {"Task Type": "EVENT_WAIT", "Stream Id": 3}},
        arrow | {"ph": "s", "pid": 1, "tid": 1, "ts": "1700000000000100.000"},
        arrow | {"ph": "f", "pid": 9, "tid": 3, "ts": start},
    )
    (kernel,) = trace.kernels()
    assert (kernel.name, kernel.op_id, kernel.stream) == ("aclnnAdd_AddAiCore_Add", 0, "3")
    assert (kernel.launch, trace.op(0).device) == ("torch_to_npu", "npu:9")
