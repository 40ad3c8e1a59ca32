"""Which overload ran where it was not recorded: by the inputs, and by what stands around."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from indexes.model.schema import parse_schema
from indexes.queries.index import Index
from navigator.trace.inputs import parse_inputs
from navigator.trace.link import Linker
from navigator.trace.links import OpLink
from navigator.trace.model import Input
from navigator.trace.overloads import Overloads, common_form
from navigator.trace.readers import read_trace

SCHEMAS = (
    "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor",
    "sum.dim_DimnameList(Tensor self, Dimname[1] dim, bool keepdim=False) -> Tensor",
    "select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
    "select.Dimname(Tensor(a) self, Dimname dim, int index) -> Tensor(a)",
    "view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
    "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
    "eq.Scalar(Tensor self, Scalar other) -> Tensor",
    "eq.Tensor(Tensor self, Tensor other) -> Tensor",
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
)


def fitting(name: str, *types: str) -> tuple[str, ...]:
    """The overloads that fit types as a profile of 2022 has them: no values, ``''`` for lists."""
    inputs: tuple[Input, ...] = parse_inputs(json.dumps(types).encode(), b"", b"", b"")
    return Overloads(map(parse_schema, SCHEMAS)).fitting(name, inputs)


def test_nothing_stands_for_any_list_of_numbers() -> None:
    assert fitting("view", "float", "") == ("",)
    assert fitting("sum", "float", "", "Scalar") == ("dim_IntList", "dim_DimnameList")


def test_a_list_of_2021_is_one_of_whatever_kind_but_no_tensor() -> None:
    assert fitting("view", "float", "GenericList") == ("",)
    assert fitting("cat", "GenericList", "Int") == ("",)
    assert fitting("eq", "float", "GenericList") == ()


def test_sizes_without_types_fit_by_number_and_by_what_has_sizes() -> None:
    """Kineto's first profiles, of early 2021, have sizes and an empty list of types: a scalar has
    none, nor does a tensor without dimensions. Nothing fitted."""

    def sized(name: str, *sizes: object) -> tuple[str, ...]:
        inputs = parse_inputs(b"[]", json.dumps(sizes).encode(), b"", b"")
        return Overloads(map(parse_schema, SCHEMAS)).fitting(name, inputs)

    assert sized("eq", [2], []) == ("Scalar", "Tensor")
    assert sized("eq", [2], [2]) == ("Tensor",)
    assert sized("view", [2], [2]) == ()
    assert sized("sum", [2, 3], [], []) == ("dim_IntList", "dim_DimnameList")
    assert sized("cat", [[2], [3]], []) == ("",)


def test_a_number_is_no_name_of_a_dimension_and_no_list() -> None:
    assert fitting("select", "float", "Scalar", "Scalar") == ("int",)
    assert fitting("view", "float", "Scalar") == ("dtype",)


def test_the_arguments_are_the_last_of_an_interpreters_stack() -> None:
    assert fitting("eq", "Scalar", "float", "float", "Scalar") == ("Scalar",)
    assert fitting("eq", "Scalar", "float", "float") == ("Tensor",)


def test_the_form_that_schemas_have_in_common() -> None:
    numbered, named = parse_schema(SCHEMAS[3]), parse_schema(SCHEMAS[4])
    assert common_form([numbered, named]) == "select(Tensor self, ...) -> Tensor"
    made = ("empty.names(int[] size) -> Tensor", "empty.memory_format(SymInt[] size) -> Tensor")
    assert common_form([*map(parse_schema, made)]) == "empty(int[] size, ...) -> Tensor"
    assert common_form([]) is None


# ------------------------------------------------------------------- by what stands around

Nested = tuple[str, list["Nested"]]
"""An operator's name without ``aten::`` and what it calls."""


def events(calls: list[Nested], start: float, length: float) -> list[dict[str, Any]]:
    """Operators one after the other, each around those that it calls."""
    found = []
    step = length / (len(calls) + 1)
    for number, (name, inner) in enumerate(calls):
        at = start + number * step
        known = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "args": {}}
        found.append({**known, "name": f"aten::{name}", "ts": at, "dur": step * 0.9})
        found += events(inner, at + step * 0.1, step * 0.7)
    return found


def links(listed: list[dict[str, Any]], index: Index, folder: Path) -> dict[str, OpLink]:
    """The link of each operator of a profile without shapes, by ``caller/name``."""
    file = folder / "profile.json"
    file.write_text(json.dumps({"traceEvents": listed}))
    trace = read_trace(file)
    linker = Linker(trace, index)
    names = {op.id: f"{op.name.removeprefix('aten::')}/" for op in trace.ops()}
    return {
        f"{'' if op.parent is None else names[op.parent]}{names[op.id]}".rstrip("/"): linker.link(
            op
        )
        for op in trace.ops()
    }


def shapeless(index: Index, folder: Path, *calls: Nested) -> dict[str, OpLink]:
    return links(events(list(calls), 0.0, 1000.0), index, folder)


def test_an_overload_that_would_have_called_another_operator_did_not_run(
    tree_index: Index, tmp_path: Path
) -> None:
    link = shapeless(tree_index, tmp_path, ("add", []))["add"]
    assert link.candidates == ("add.Tensor", "add.out")  # add.Scalar calls at::add


def test_an_operator_did_not_run_on_a_device_that_has_no_kernel_for_it(
    tree_index: Index, tmp_path: Path
) -> None:
    """Where nothing tells on which of the trace's devices it ran."""
    calls: list[Nested] = [("abs", []), ("miopen_convolution", []), ("sin", [])]
    work = {"ph": "X", "pid": 1, "tid": 1, "ts": 1.0, "dur": 1.0, "args": {"correlation": 1}}
    launch = {**work, "cat": "cuda_runtime", "name": "cudaLaunchKernel"}
    kernel = {**work, "cat": "kernel", "name": "k", "args": {"correlation": 1, "device": 0}}
    found = links([*events(calls, 0.0, 100.0), launch, kernel], tree_index, tmp_path)
    assert found["miopen_convolution"].keys == ("CPU", "CUDA")
    row = found["miopen_convolution"].kernel
    assert row is not None
    assert row.key == "CUDA"


def test_where_the_call_is_there_the_overload_stays(tree_index: Index, tmp_path: Path) -> None:
    found = shapeless(tree_index, tmp_path, ("add", [("add", [])]))
    assert "add.Scalar" in found["add"].candidates
    assert "add.Scalar" not in found["add/add"].candidates


def test_the_overload_that_the_kernel_above_names(tree_index: Index, tmp_path: Path) -> None:
    link = shapeless(tree_index, tmp_path, ("relu", [("clamp_min", [])]))["relu/clamp_min"]
    assert link.full_name == "clamp_min"
    assert "what relu calls" in link.overload_rule


@pytest.mark.parametrize("twice", [False, True])
def test_a_caller_that_calls_itself_again_names_nothing(
    tree_index: Index, tmp_path: Path, twice: bool
) -> None:
    """As under autocast, which casts and calls again: what it calls stands in no kernel."""
    inner: list[Nested] = [("clamp_min", []), *[("relu", [])] * twice]
    link = shapeless(tree_index, tmp_path, ("relu", inner))["relu/clamp_min"]
    assert (link.full_name == "clamp_min") is not twice


def test_the_node_that_a_call_made(tree_index: Index, tmp_path: Path) -> None:
    listed = events([("mul", [])], 0.0, 100.0)
    listed[0]["args"] = {"Sequence number": 7}
    engine = "autograd::engine::evaluate_function: MulBackward0"
    for name, start, length in ((engine, 200, 50), ("MulBackward0", 210, 30)):
        args = {"Sequence number": 7, "Fwd thread id": 1}
        known = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 2, "args": args}
        listed.append({**known, "name": name, "ts": start, "dur": length})
    link = links(listed, tree_index, tmp_path)["mul"]
    assert link.full_name == "mul.Tensor"
    assert "it made MulBackward0" in link.overload_rule
