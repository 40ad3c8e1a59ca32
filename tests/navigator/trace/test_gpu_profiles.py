"""Profiles of real GPU runs that others recorded: NVIDIA and AMD, 2023 to 2025."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from indexes.model.schema import parse_schema
from indexes.queries.index import Index
from navigator.trace.link import Linker
from navigator.trace.overloads import Overloads
from navigator.trace.readers import read_trace
from navigator.trace.rows import trace_rows
from navigator.trace.trace import Trace


@pytest.fixture(scope="module")
def profile(profile_file: Path) -> Trace:
    return read_trace(profile_file)


@pytest.fixture(scope="module")
def events(profile_file: Path) -> list[dict[str, object]]:
    return list(json.loads(gzip.decompress(profile_file.read_bytes()))["traceEvents"])


def test_every_launch_is_under_an_operator(profile: Trace) -> None:
    kernels = list(profile.kernels())
    assert len(kernels) > 50
    for kernel in kernels:
        assert kernel.op_id is not None, kernel
        assert kernel.launch


def test_that_operator_is_the_smallest_one_around_the_launch(
    profile: Trace, events: list[dict[str, object]]
) -> None:
    """Checked the slow way, over all operators of the launching thread."""
    launches = {
        _args(e).get("correlation"): e
        for e in events
        if "runtime" in str(e.get("cat")) or e.get("cat") == "cuda_driver"
    }
    cpu_ops = [e for e in events if e.get("cat") == "cpu_op"]
    device = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    for event, kernel in zip(device, profile.kernels(), strict=True):
        launch = launches[_args(event)["correlation"]]
        around = [op for op in cpu_ops if _contains(op, launch)]
        smallest = min(around, key=lambda op: float(str(op["dur"])))
        assert kernel.op_id is not None
        assert profile.op(kernel.op_id).label == smallest["name"]


def test_external_ids_agree_where_they_mean_operators(
    profile: Trace, events: list[dict[str, object]]
) -> None:
    """Since 2024 a kernel carries the External id of the operator that launched it."""
    if not profile.meta.path.endswith(("bert-small.json.gz", "classifier.json.gz")):
        pytest.skip("here External id is only a correlation number")
    names = {_args(e).get("External id"): e["name"] for e in events if e.get("cat") == "cpu_op"}
    kernels = [e for e in events if e.get("cat") == "kernel"]
    ours = [k for k in profile.kernels() if k.kind == "kernel"]
    for event, kernel in zip(kernels, ours, strict=True):
        assert kernel.op_id is not None
        assert profile.op(kernel.op_id).label == names[_args(event)["External id"]]


def test_overloads_come_out_of_the_inputs(profile: Trace, wheel: Index) -> None:
    """Unique for all operators whose shapes were recorded, of any version of torch."""
    ops = [op for op in profile.ops() if op.kind == "op" and op.inputs]
    finder = Overloads(parse_schema(op.schema) for op in wheel.operators())
    found = [finder.fitting(op.name.removeprefix("aten::"), op.inputs) for op in ops]
    assert sum(len(overloads) == 1 for overloads in found) >= 0.99 * len(ops)
    by_name = {op.name: overloads for op, overloads in zip(ops, found, strict=True)}
    if ops:
        assert by_name["aten::add"] == ("Tensor",)
        assert by_name["aten::empty_strided"] == ("",)
        assert by_name["aten::transpose"] == ("int",)


def test_every_row_has_an_answer_or_a_reason(profile: Trace, wheel: Index) -> None:
    rows = list(trace_rows(profile, Linker(profile, wheel)))
    assert {row["kind"] for row in rows} >= {"op", "device_kernel"}
    for row in rows:
        if row["kind"] == "device_kernel":
            assert row["source"] or row["library"] or row["reason"]
        elif row["kind"] != "allocation":
            assert row["resolved"] or row["reason"]


def test_says_what_the_profile_lacks(profile: Trace) -> None:
    lacks = " ".join(profile.meta.lacks)
    assert "capture_overload_names" in lacks
    without_shapes = not any(op.inputs for op in profile.ops())
    assert ("record_shapes" in lacks) == without_shapes
    assert profile.meta.devices


def test_lines_of_profiles_with_stacks_are_not_called_exact(profile: Trace) -> None:
    for op in profile.ops():
        if op.user is not None:
            assert not op.user_exact
            assert not op.user.path.startswith("torch/")


def _args(event: dict[str, object]) -> dict[str, object]:
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def _contains(outer: dict[str, object], inner: dict[str, object]) -> bool:
    start, end = _span(outer)
    begin, _ = _span(inner)
    same = (outer["pid"], outer["tid"]) == (inner["pid"], inner["tid"])
    return same and start <= begin < end


def _span(event: dict[str, object]) -> tuple[float, float]:
    start = float(str(event["ts"]))
    return start, start + float(str(event["dur"]))
