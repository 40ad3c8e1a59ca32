"""Which kernel a call reached where its place was not recorded, or Python answered it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexes.model.vocabulary import Location
from indexes.queries.index import Index
from navigator.trace.evidence import backend_keys
from navigator.trace.link import Linker
from navigator.trace.links import IN_PYTHON, OpLink
from navigator.trace.model import ProgramDefinition, TraceOp
from navigator.trace.program_code import ProgramCode
from navigator.trace.rows import op_row
from tests.navigator.trace.made import launch, made, op, tensors

UNSEEN: dict[str, Any] = {"Input Dims": [[]], "Input type": [""], "Concrete Inputs": [""]}


def linked(folder: Path, index: Index, *events: dict[str, Any]) -> dict[str, tuple[OpLink, Any]]:
    """The link and the row of each operator, under the name of what is around it."""
    trace = made(folder, events)
    linker = Linker(trace, index)
    return {
        f"{trace.op(one.parent).name if one.parent is not None else ''}/{one.name}": (
            linker.link(one),
            op_row(trace, one, linker),
        )
        for one in trace.ops()
    }


def test_a_tensor_that_no_profile_describes_may_be_of_another_layout(
    tree_index: Index, tmp_path: Path
) -> None:
    """Of a nested tensor kineto records nothing, and nothing that it would not of a subclass."""
    link, row = linked(tmp_path, tree_index, op("aten::sin", 1.0, 2.0, **UNSEEN))["/aten::sin"]
    assert {"CPU", "NestedTensorCPU", "SparseCPU"} <= set(link.keys)
    assert link.kernel is None
    assert row["status"] == "candidates"
    assert "on which kind of tensor it ran: one of" in row["reason"]
    assert "sin_nested" in row["reason"]


def test_a_tensor_that_is_described_is_what_it_says(tree_index: Index, tmp_path: Path) -> None:
    event = op("aten::sin", 1.0, 2.0, **tensors([2, 3]))
    link, _ = linked(tmp_path, tree_index, event)["/aten::sin"]
    assert link.keys == ("CPU",)
    assert link.kernel is not None


@pytest.mark.parametrize("key", ["PythonSubclass", "PythonDispatchMode"])
def test_what_python_answered_has_the_kernel_of_what_it_called(
    tree_index: Index, tmp_path: Path, key: str
) -> None:
    around = op("aten::sin", 1.0, 20.0, **UNSEEN)
    inner = op("aten::sin", 3.0, 2.0, **tensors([2, 3]))
    found = linked(tmp_path, tree_index, around, op(key, 2.0, 10.0), inner)
    assert found["/aten::sin"][0].kernel == found[f"{key}/aten::sin"][0].kernel is not None
    assert found["/aten::sin"][1]["status"] == "exact"


def test_what_python_answered_by_other_operators_reached_no_kernel_of_its_own(
    tree_index: Index, tmp_path: Path
) -> None:
    around = op("aten::sin", 1.0, 20.0, **UNSEEN)
    inner = op("aten::abs", 3.0, 2.0, **tensors([2, 3]))
    found = linked(tmp_path, tree_index, around, op("PythonSubclass", 2.0, 10.0), inner)
    link, row = found["/aten::sin"]
    assert link.kernel is None
    assert link.schema is not None
    assert row["status"] == "unknown"
    assert row["reason"] == IN_PYTHON


def test_the_keys_that_were_recorded_say_the_layout(tree_index: Index, tmp_path: Path) -> None:
    trace = made(tmp_path, [op("aten::sin", 1.0, 2.0, **UNSEEN)])
    (plain,) = trace.ops()
    keys = ("AutogradNestedTensor", "ADInplaceOrView", "BackendSelect", "NestedTensorCPU", "CPU")
    assert backend_keys(with_keys(plain, keys), ("cpu",)) == ("NestedTensorCPU",)
    assert backend_keys(with_keys(plain, ("BackendSelect",)), ("cpu",)) == ("CPU",)


def with_keys(one: TraceOp, keys: tuple[str, ...]) -> TraceOp:
    return replace(one, keys=keys)


def test_where_only_another_device_has_a_kernel_it_ran_there(
    tree_index: Index, tmp_path: Path
) -> None:
    """A profile without devices, as of the CPU's side of a run on GPUs."""
    events = [op("aten::miopen_convolution", 1.0, 2.0)]
    link, row = linked(tmp_path, tree_index, *events)["/aten::miopen_convolution"]
    assert link.kernel is not None
    assert link.kernel.key == "CUDA"
    assert row["status"] == "exact"


def test_what_torch_func_makes_of_a_function_leads_to_the_programs_lines() -> None:
    forward = ProgramDefinition("forward", "Exp", Location("p.py", 3, 3), "Exp.forward", "", "")
    backward = ProgramDefinition(
        "backward", "ExpBackward", Location("p.py", 6, 6), "Exp.backward", "", ""
    )
    code = ProgramCode([forward, backward])
    assert [one.location.line for one in code.methods("forward", "ExpGenerated")] == [3]
    assert [one.location.line for one in code.methods("backward", "ExpGeneratedBackward")] == [6]
    assert code.methods("backward", "OtherGeneratedBackward") == ()


def empty(layout: str) -> dict[str, Any]:
    """``args`` of ``torch.empty((2, 3), dtype=float32, layout=...)``."""
    values = ["[2, 3]", "6", layout, "", "", ""]
    kinds = ["ScalarList", "Scalar", "Scalar", "", "", ""]
    return {"Input Dims": [[]] * 6, "Input type": kinds, "Concrete Inputs": values}


@pytest.mark.parametrize(("layout", "symbol"), [("0", "empty_cpu"), ("1", "empty_sparse")])
def test_a_factory_ran_for_the_layout_that_it_was_asked_for(
    tree_index: Index, tmp_path: Path, layout: str, symbol: str
) -> None:
    event = op("aten::empty", 1.0, 2.0, **empty(layout))
    _, row = linked(tmp_path, tree_index, event)["/aten::empty"]
    assert row["kernel"]["symbol"] == symbol


def test_inputs_that_fit_no_overload_of_a_librarys_operator(
    tree_index: Index, tmp_path: Path
) -> None:
    """It is known, as another version had it: that is not said to be in no TORCH_LIBRARY, and what
    has its name there is shown."""
    schemas = ((one.full_name, one.schema) for one in tree_index.operators())
    name = next(name for name, schema in schemas if "::" in name and "(Tensor " in schema)
    event = op(name, 1.0, 2.0, **tensors(values=["1"] * 2))
    _, row = linked(tmp_path, tree_index, event)[f"/{name}"]
    assert row["reason"].startswith("its inputs fit no overload in the TORCH_LIBRARY")
    assert (row["status"], row["schema"]) == ("candidates", None)
    assert name in row["candidates"]
    assert row["shared"]["schema_path"]


SIN = op("aten::sin", 1.0, 2.0, **tensors([2, 3]))


@pytest.mark.parametrize(
    ("events", "device"),
    [
        ([op("aten::cudnn_convolution", 5.0, 2.0)], ""),
        ([op("aten::abs", 5.0, 2.0), launch(6.0, 1)], ""),
        ([], "NVIDIA H100"),
    ],
    ids=["an operator that only CUDA has", "a launch", "the devices of the machine"],
)
def test_a_profile_of_the_host_alone_does_not_say_that_a_cpu_ran_it(
    tree_index: Index, tmp_path: Path, events: list[dict[str, Any]], device: str
) -> None:
    trace = made(tmp_path, [SIN, *events], device)
    linker = Linker(trace, tree_index)
    rows = [op_row(trace, one, linker) for one in trace.ops()]
    assert rows[0]["device"] is None
    assert rows[0]["keys"] == ["CPU", "CUDA"]
    on_device = [row["device"] for row in rows if row["name"] == "aten::abs"]
    assert on_device == ["cuda"] * len(on_device)


def test_a_profile_without_a_sign_of_a_device_is_of_the_cpu(
    tree_index: Index, tmp_path: Path
) -> None:
    link, row = linked(tmp_path, tree_index, SIN)["/aten::sin"]
    assert (link.keys, row["device"]) == (("CPU",), "cpu")
