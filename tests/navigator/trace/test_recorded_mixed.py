"""Programs that do more than a plain step: custom functions, transforms, threads, layouts."""

from __future__ import annotations

from navigator.trace.model import TraceOp
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import MIXED, line_of


def at_line(trace: Trace, mark: str, kind: str = "op") -> list[TraceOp]:
    line = line_of(MIXED, mark)
    return [op for op in trace.ops() if op.kind == kind and op.user and op.user.line == line]


def test_python_code_of_a_backward_pass_has_its_own_line(mixed: Trace) -> None:
    ops = at_line(mixed, "custom backward")
    assert {op.full_name for op in ops if op.inputs} >= {"mul.Tensor"}
    assert {op.node for op in ops} == {"SquareBackward"}
    assert {op.phase for op in ops} == {"backward"}


def test_recomputation_under_checkpointing_is_told_apart(mixed: Trace) -> None:
    ops = [op for op in at_line(mixed, "checkpoint") if op.name in ("aten::linear", "aten::gelu")]
    phases = sorted((op.name, op.phase, op.origin) for op in ops)
    assert phases == [
        ("aten::gelu", "backward", "recompute"),
        ("aten::gelu", "forward", ""),
        ("aten::linear", "backward", "recompute"),
        ("aten::linear", "forward", ""),
    ]


def test_operators_of_other_threads_have_their_line(mixed: Trace) -> None:
    ops = at_line(mixed, "thread")
    assert {op.full_name for op in ops} >= {"ones", "mul.Tensor"}
    assert {op.thread for op in ops}.isdisjoint({op.thread for op in at_line(mixed, "hook")})


def test_custom_operators_stand_above_what_they_call(mixed: Trace) -> None:
    triple = next(op for op in mixed.ops() if op.name == "torchnav_test::triple")
    below = {mixed.op(row).full_name for row in mixed.table.descendants(triple.id)}
    assert "mul.Tensor" in below


def test_places_of_tensors_that_are_not_dense_on_the_cpu(mixed: Trace) -> None:
    adds = [op for op in mixed.ops() if op.full_name == "add.Tensor"]
    places = {(op.device, op.layout) for op in adds}
    assert {("cpu", "sparse_coo"), ("meta", "strided"), ("cpu", "strided")} <= places


def test_autocast_and_transforms_are_seen(mixed: Trace) -> None:
    half = [
        op
        for op in mixed.ops()
        if op.name == "aten::linear" and any(value.dtype == "bfloat16" for value in op.inputs)
    ]
    assert half
    assert any(op.name == "aten::cos" for op in mixed.ops()), "the gradient of sin under vmap"


def test_hooks_are_told_apart_from_the_formula(mixed: Trace) -> None:
    (negation,) = (op for op in at_line(mixed, "hook") if op.name == "aten::neg")
    assert (negation.phase, negation.origin) == ("backward", "hook")


def test_rows_are_well_formed(mixed: Trace) -> None:
    for op in mixed.ops():
        assert op.duration_us >= 0
        if op.parent is not None:
            parent = mixed.op(op.parent)
            assert parent.start_us <= op.start_us
            assert op.id in mixed.children(op.parent)
    assert list(mixed.roots()) == sorted(mixed.roots(), key=mixed.table.start.__getitem__)
