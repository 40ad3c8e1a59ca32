"""Forward operators beside the Nodes that compute their gradients."""

from __future__ import annotations

from navigator.trace.figures.pairs import pairs_of
from navigator.trace.trace import Trace


def test_an_operator_and_its_node_are_one_pair_from_both_sides(step: Trace) -> None:
    linear = next(op for op in step.ops() if op.name == "aten::linear" and pairs_of(step, op.id))
    pairs = pairs_of(step, linear.id)
    addmm = next(pair for pair in pairs if pair.forward.name == "aten::addmm")
    assert addmm.node.name == "AddmmBackward0"
    formula = [op for op in addmm.node_rows if not op.origin]
    assert [op.name for op in formula].count("aten::mm") >= 1
    assert all(op.node == "AddmmBackward0" for op in addmm.node_rows)
    product = next(op for op in formula if op.name == "aten::mm")
    (again,) = pairs_of(step, product.id)
    assert (again.forward.id, again.node.id) == (addmm.forward.id, addmm.node.id)


def test_what_has_no_gradient_has_no_pair(step: Trace) -> None:
    embedding = next(op for op in step.ops() if op.name == "aten::normal_")
    assert pairs_of(step, embedding.id) == []
