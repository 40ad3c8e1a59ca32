"""The engine beyond its own file, and the way of a node through it, on the small tree."""

from __future__ import annotations

from indexes.queries.backward_engine import calls_elsewhere, way_of_node
from indexes.queries.index import Index

NODE = "torch/csrc/autograd/function.h"


def test_what_the_engine_calls_of_the_rest_of_autograd(tree_index: Index) -> None:
    functions = {one.name: one for one in tree_index.engine()}
    found = [
        (one.name, one.location.path if one.location else "")
        for _, one in calls_elsewhere(tree_index.facts, functions["call_function"])
    ]

    assert found == [
        ("torch::autograd::Node::operator()", NODE),
        ("torch::autograd::Node::next_edges", NODE),
    ]


def test_the_way_of_a_node_goes_through_its_formulas(tree_index: Index) -> None:
    steps = way_of_node(tree_index, "MulBackward0")
    names = [(step.depth, step.name) for step in steps]

    assert names.index((0, "call_function")) < names.index((0, "ReadyQueue::push"))
    body = names.index((1, "torch::autograd::Node::operator()"))
    assert names[body + 1] == (2, "MulBackward0::apply, generated from mul.Tensor")
    assert names[body + 2][0] == 3
    assert names[body + 2][1].startswith("self: mul_tensor_backward(grad, other")
    assert names[body + 4] == (1, "validate_outputs")


def test_a_name_that_is_no_node_has_no_steps_of_its_own(tree_index: Index) -> None:
    assert max(step.depth for step in way_of_node(tree_index, "NoSuchBackward0")) == 1


def test_an_installed_torch_has_no_engine_to_go_through(wheel: Index) -> None:
    assert way_of_node(wheel, "MulBackward0") == ()
