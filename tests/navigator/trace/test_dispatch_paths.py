"""Dispatch paths, held against the C++ stacks of the running torch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexes.queries.index import Index
from navigator.trace.link import Linker
from navigator.trace.readers import read_trace
from navigator.trace.rows import trace_rows
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import run
from tests.navigator.trace.stacks import WATCHED, Compared, compare, ran


@pytest.fixture(scope="module")
def folder(library: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a program was watched by both."""
    folder = tmp_path_factory.mktemp("watched")
    done = run(folder, WATCHED, options=("--native", library))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def watched(folder: Path) -> Trace:
    return read_trace(folder / "trace.json")


@pytest.fixture(scope="module")
def compared(folder: Path, watched: Trace, wheel: Index) -> Compared:
    return compare(watched, Linker(watched, wheel), folder / "stacks.json")


def test_every_path_is_what_the_stacks_show(compared: Compared) -> None:
    """The installed torch has no C++ source: where that decides, the path says so."""
    assert not compared.other
    assert compared.same + compared.uncertain == compared.calls > 300
    assert compared.uncertain < 0.05 * compared.calls
    assert compared.unmatched < 10


def test_the_stacks_hold_what_is_to_be_told_apart(compared: Compared) -> None:
    assert set(compared.keys) >= {
        "Autograd",
        "ADInplaceOrView",
        "Autocast",
        "Conjugate",
        "Negative",
        "Python",
        "kernel",
        "PythonTLSSnapshot",
        "FuncTorchDynamicLayerFrontMode",
        "FuncTorchDynamicLayerBackMode",
    }


def test_steps_carry_kernels_and_lines(watched: Trace, wheel: Index) -> None:
    rows = [row for row in trace_rows(watched, Linker(watched, wheel)) if row.get("dispatch_path")]
    paths = (json.dumps(row["dispatch_path"]) for row in rows if row["name"] == "aten::gelu")
    text = next(path for path in paths if "AutogradCPU" in path)
    assert '"key": "AutogradCPU", "kernel": "VariableType::gelu"' in text
    assert "derivatives.yaml" in text


def test_where_keys_were_not_recorded_the_path_is_worked_out_or_not_known(
    step: Trace, wheel: Index
) -> None:
    linker = Linker(step, wheel)
    ops = {op.name: op for op in step.ops() if op.kind in ("op", "node")}
    mm, empty = linker.path(ops["aten::mm"]), linker.path(ops["aten::empty"])
    assert mm is not None
    assert ran(mm) == ["AutogradCPU", "CPU"]
    assert not mm.is_certain
    assert "without autocast" in mm.assumed
    assert empty is not None
    assert not empty.steps or empty.assumed
    assert linker.path(ops["AddmmBackward0"]) is None
