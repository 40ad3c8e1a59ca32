"""A transformer's forward, backward and AdamW step, recorded on the CPU."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from indexes.model.schema import parse_schema
from indexes.queries.index import Index
from navigator.trace.link import Linker
from navigator.trace.model import TraceOp
from navigator.trace.overloads import Overloads
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import STEP, line_of, run


@pytest.fixture(scope="module")
def ops(step: Trace) -> list[TraceOp]:
    """The rows of the third step, which no other profiler watched."""
    top = next(op for op in step.ops() if op.name == "the step")
    return [step.op(row) for row in step.table.descendants(top.id)]


def of_kind(ops: list[TraceOp], kind: str) -> list[TraceOp]:
    return [op for op in ops if op.kind == kind]


def test_runs_the_same_operators_as_under_torch_profiler(
    ops: list[TraceOp], own_profile: Counter[str]
) -> None:
    ours = Counter(op.name for op in ops if op.kind != "call")
    assert ours == own_profile
    assert ours.total() > 500


def test_every_operator_has_an_overload_of_the_installed_torch(
    ops: list[TraceOp], wheel: Index
) -> None:
    known = {op.full_name for op in wheel.operators()}
    assert {op.full_name for op in of_kind(ops, "op")} <= known
    assert "add.Tensor" in {op.full_name for op in ops}


def test_overloads_worked_out_from_inputs_are_those_recorded(
    ops: list[TraceOp], wheel: Index
) -> None:
    """As for profiles without overload names. Not unique is allowed, wrong is not."""
    finder = Overloads(parse_schema(op.schema) for op in wheel.operators())
    calls = [op for op in of_kind(ops, "op") if op.name.startswith("aten::") and op.inputs]
    fits = [finder.fitting(op.name.removeprefix("aten::"), op.inputs) for op in calls]
    unique = [
        (op.overload or "", one[0]) for op, one in zip(calls, fits, strict=True) if len(one) == 1
    ]
    assert all(recorded == found for recorded, found in unique)
    assert len(unique) >= 0.99 * len(calls) > 500


def test_every_operator_has_the_exact_line_of_the_program(
    ops: list[TraceOp], step_folder: Path
) -> None:
    program = str(step_folder / "program.py")
    for op in of_kind(ops, "op"):
        assert op.user is not None, op
        assert op.user_exact
        assert op.user.path == program
    residual = {op.full_name for op in ops if op.user and op.user.line == line_of(STEP, "residual")}
    assert "add.Tensor" in residual
    assert "layer_norm" in residual, "what nn.LayerNorm calls belongs to the line that called it"


def test_phases_are_those_of_the_lines_that_started_them(ops: list[TraceOp]) -> None:
    lines = {"backward": line_of(STEP, "backward"), "optimizer": line_of(STEP, "optimizer")}
    found = Counter((op.phase, op.user.line) for op in of_kind(ops, "op") if op.user)
    for phase, line in lines.items():
        of_phase = {at: count for (kind, at), count in found.items() if kind == phase}
        assert of_phase.pop(line) > 50
        assert sum(of_phase.values()) < 10  # zero_grad; the first gradient of the loss
    assert sum(count for (kind, _), count in found.items() if kind == "forward") > 50


def test_composite_operators_stand_above_what_they_call(step: Trace, ops: list[TraceOp]) -> None:
    linear = next(op for op in ops if op.name == "aten::linear")
    below = {step.op(row).name for row in step.table.descendants(linear.id)}
    assert {"aten::addmm", "aten::t", "aten::transpose"} <= below


def test_modules_by_path_in_forward_and_backward(ops: list[TraceOp]) -> None:
    forward = {op.module for op in ops if op.phase == "forward" and op.name == "aten::linear"}
    assert forward == {
        "Net.block.attention.qkv",
        "Net.block.attention.out",
        "Net.block.mlp.0",
        "Net.block.mlp.2",
        "Net.head",
    }
    backward = {op.module for op in ops if op.node == "AddmmBackward0"}
    assert backward == forward


def test_every_node_is_linked_to_the_operator_it_differentiates(
    step: Trace, ops: list[TraceOp], wheel: Index
) -> None:
    nodes = [op for op in of_kind(ops, "node") if "AccumulateGrad" not in op.name]
    assert len(nodes) > 20
    for node in nodes:
        assert node.forward_id is not None, node.name
        forward = step.op(node.forward_id)
        assert forward.phase == "forward"
        entry = wheel.derivative(forward.full_name)
        assert entry is not None, forward.full_name
        assert node.name in {one.grad_fn for one in entry.sets}
        assert step.backward_of(forward.id) == node.id


def test_engine_work_is_told_apart_from_the_formula(ops: list[TraceOp]) -> None:
    addmm = [op for op in of_kind(ops, "op") if op.node == "AddmmBackward0"]
    engine = Counter(op.full_name for op in addmm if op.origin == "engine")
    formula = Counter(op.full_name for op in addmm if not op.origin)
    assert set(engine) >= {"sum.dim_IntList"}, "the bias' gradient is reduced by the engine"
    assert "sum.dim_IntList" not in formula
    assert formula["mm"] == 10


def test_every_backward_operator_leads_to_its_node_and_formula(
    step: Trace, ops: list[TraceOp], wheel: Index
) -> None:
    linker = Linker(step, wheel)
    under = [op for op in of_kind(ops, "op") if op.phase == "backward" and op.node]
    assert len(under) > 100
    for op in (op for op in under if not op.origin):
        link = linker.link(op)
        assert link.schema is not None
        assert link.node is not None
        assert link.node.entry is not None or link.node.definition is not None, op.node
    mm = next(op for op in under if op.name == "aten::mm")
    node = linker.link(mm).node
    assert node is not None
    assert [f.text.partition("(")[0] for f in node.formulas][1:] == [
        "mm_mat1_backward",
        "mm_mat2_backward",
    ]


def test_kernels_and_schemas_come_with_the_tree(step: Trace, tree_index: Index) -> None:
    linker = Linker(step, tree_index)
    add = next(op for op in step.ops() if op.full_name == "add.Tensor")
    link = linker.link(add)
    assert link.keys == ("CPU",)
    assert link.kernel is not None
    assert link.kernel.definitions
    assert "recorded with torch" in linker.note


def test_inputs_are_recorded(ops: list[TraceOp]) -> None:
    linear = next(op for op in ops if op.name == "aten::linear")
    assert [str(value) for value in linear.inputs] == [
        "float32[2, 5, 16]",
        "float32[48, 16]",
        "float32[48]",
    ]
    assert linear.inputs[0].strides == (80, 16, 1)
    view = next(op for op in ops if op.name == "aten::view" and len(op.inputs) == 2)
    assert view.inputs[1].value.startswith("[")


def test_calls_carry_what_they_returned(ops: list[TraceOp]) -> None:
    call = next(op for op in of_kind(ops, "call") if op.name == "torch._C._nn.linear")
    assert call.output == "float32[2, 5, 48] cpu"


def test_the_recording_is_json_with_one_object_a_line(step_folder: Path) -> None:
    text = (step_folder / "trace.json").read_text()
    first, *lines, last = text.splitlines()
    assert (first, last) == ("[", "]")
    assert [json.loads(line.removesuffix(",")) for line in lines] == json.loads(text)


def test_every_arrow_of_the_recording_has_a_number_of_its_own(tmp_path: Path) -> None:
    """Windows that are columns have none; those with allocations are events."""
    options = ("--memory", "--window", "0.001")
    done = run(tmp_path, STEP, str(tmp_path / "own.json"), options=options)
    assert done.returncode == 0, done.stderr
    events = json.loads((tmp_path / "trace.json").read_text())
    windows = [event for event in events if event["name"] == "torchnav_window"]
    ends = Counter((event["ph"], event["id"]) for event in events if event["ph"] in ("s", "f"))
    assert len(windows) > 1
    assert len(ends) > 50
    assert set(ends.values()) == {1}
    assert {number for end, number in ends if end == "s"} == {n for end, n in ends if end == "f"}


def test_every_operator_of_a_backward_pass_has_its_forward(step: Trace) -> None:
    backward = [op for op in step.ops() if op.phase == "backward" and op.kind == "op"]
    assert len(backward) > 150
    for op in backward:
        assert op.forward_id is not None, op
        assert step.op(op.forward_id).phase == "forward"
    leaves = [op for op in step.ops() if op.name == "torch::autograd::AccumulateGrad"]
    assert leaves
    for leaf in leaves:
        assert leaf.forward_id is not None, "the operator that used the parameter"
        used = step.op(leaf.forward_id)
        assert {value.shape for value in leaf.inputs} <= {value.shape for value in used.inputs}
        assert step.backward_of(leaf.forward_id) != leaf.id, "it made a Node of its own"


def test_says_when_the_program_had_a_profiler_of_its_own(step: Trace) -> None:
    assert step.meta.complete
    assert any("profiler of its own" in problem for problem in step.meta.problems)
