"""Graphs of backward passes as torch holds them, and joined with an index."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from navigator.objects.graph import Backward, Graph, GraphNode, Lines, read_graph, variables
from navigator.objects.linked_graph import (
    LinkedGraph,
    linked,
    reasons,
    recorded_order,
    simulated_order,
)
from navigator.text.graphs import chain_lines, chains


class Square(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, value: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(value)
        return value * value

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return 2 * gradient * ctx.saved_tensors[0]


def linear() -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    x = torch.randn(2, 64)
    weight, bias = torch.randn(6, 64, requires_grad=True), torch.randn(6, requires_grad=True)
    return functional.linear(x, weight, bias).square().sum(), {
        "x": x,
        "weight": weight,
        "bias": bias,
    }


def named(graph: Graph) -> dict[str, GraphNode]:
    return {node.name: node for node in graph.nodes}


def test_nodes_with_edges_saved_values_and_variables() -> None:
    loss, names = linear()
    graph = read_graph(loss, names)
    nodes = named(graph)

    assert [node.name for node in graph.nodes[:3]] == [
        "SumBackward0",
        "PowBackward0",
        "AddmmBackward0",
    ]
    addmm = nodes["AddmmBackward0"]
    assert addmm.gradients == ("(2, 6) float32",)
    assert {one.name: one.is_variable for one in addmm.saved}["mat1"] == "x"
    to = [graph.nodes[edge.number] if edge.number is not None else None for edge in addmm.edges]
    assert [node.name if node else "" for node in to] == ["AccumulateGrad", "", "TBackward0"]
    assert to[0] is not None
    assert (to[0].variable, to[0].sequence) == ("bias", None)


def test_an_edge_to_an_input_without_gradient_leads_nowhere() -> None:
    target = torch.zeros(4)
    target[:2] = torch.ones(2, requires_grad=True)
    nodes = named(read_graph(target.sum()))

    assert nodes["CopySlices"].edges[0].number is None


def test_a_function_of_the_program_has_its_backward() -> None:
    value = torch.ones(3, requires_grad=True)
    node = named(read_graph(Square.apply(value).sum(), {"value": value}))["SquareBackward"]

    assert node.code == (__file__, Square.backward.__code__.co_firstlineno)
    assert [one.is_variable for one in node.saved] == ["value"]


def test_what_a_checkpoint_keeps_is_not_unpacked() -> None:
    runs = []

    def body(value: torch.Tensor) -> torch.Tensor:
        runs.append(1)
        return value.sin()

    value = torch.ones(3, requires_grad=True)
    node = named(read_graph(checkpoint(body, value, use_reentrant=False).sum()))["SinBackward0"]

    assert node.saved[0].value == "packed by a hook, such as a checkpoint's"
    assert len(runs) == 1


def test_what_was_freed_is_said_to_be() -> None:
    loss, _ = linear()
    loss.backward()

    saved = {one.name: one.value for one in named(read_graph(loss))["AddmmBackward0"].saved}
    assert "freed" in saved["mat1"]


def test_lines_are_those_of_the_call_that_made_a_node() -> None:
    lines = Lines()
    with lines:
        value = torch.ones(2, 4, requires_grad=True)
        hidden = functional.linear(value, torch.ones(3, 4))
        own = Square.apply(hidden)
        loss = own.sum()
    nodes = named(read_graph(loss, {}, lines.of))
    first = test_lines_are_those_of_the_call_that_made_a_node.__code__.co_firstlineno

    assert nodes["MmBackward0"].called_at == (__file__, first + 4)
    assert nodes["SquareBackward"].called_at is None, "no mode sees the call"
    assert nodes["SumBackward0"].called_at == (__file__, first + 6)


def test_a_program_can_be_ended_where_its_backward_begins() -> None:
    loss, names = linear()
    with pytest.raises(Backward) as reached, Lines(ends=True):
        loss.backward()

    assert reached.value.tensor is loss
    assert reached.value.names["names"] is names
    assert names["weight"].grad is None


def test_hooks_of_a_leaf() -> None:
    value = torch.ones(3, requires_grad=True)
    value.register_hook(lambda gradient: gradient)

    (hook,) = named(read_graph(value.sum()))["AccumulateGrad"].hooks
    assert f"{__file__}:" in hook


def test_parameters_of_modules_are_named() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 3))

    assert [*variables({"model": model, "size": 3, "x": torch.ones(1)})] == [
        "model.0.weight",
        "model.0.bias",
        "x",
    ]


def test_a_tensor_without_a_graph() -> None:
    with pytest.raises(ValueError, match="no grad_fn"):
        read_graph(torch.ones(3))


def shared() -> torch.Tensor:
    value = torch.randn(3, 3, requires_grad=True)
    return (value.sin() @ value.cos()).sum() + value.exp().sum()


def several_outputs() -> torch.Tensor:
    value = torch.randn(4, 4, requires_grad=True)
    q, r = torch.linalg.qr(value)
    first, second = q.split(2)
    return first.sum() + second.square().sum() + r.sum()


def checkpointed() -> torch.Tensor:
    value = torch.randn(3, requires_grad=True)
    first = checkpoint(lambda one: one.sin().exp(), value, use_reentrant=False)
    return (first + Square.apply(value)).sum()


def written_in_place() -> torch.Tensor:
    value = torch.randn(4, requires_grad=True)
    target = value * 2
    target[:2] = value[2:].cos()
    return target.sum()


@pytest.mark.parametrize("make", [shared, several_outputs, checkpointed, written_in_place])
def test_the_simulated_order_is_the_recorded_one(make: Any) -> None:
    loss = make()
    graph = read_graph(loss)
    recorded, note = recorded_order(loss, graph)

    assert note == ""
    assert sorted(recorded) == [node.number for node in graph.nodes]
    assert simulated_order(graph)[0] == recorded
    assert reasons(graph, recorded)[recorded[0]] == "the only one ready"
    assert reasons(graph, recorded[::-1]) == {}, "it is not told where another order ran"


def test_a_graph_that_a_node_makes_while_it_runs_is_noted() -> None:
    value = torch.randn(3, requires_grad=True)
    loss = checkpoint(lambda one: one.sin(), value, use_reentrant=True).sum()
    order, note = recorded_order(loss, read_graph(loss))

    assert len(order) == 3
    assert note == "the profiler saw 5 nodes, 2 of them not of this graph"


def test_running_leaves_gradients_as_they_were() -> None:
    value = torch.ones(3, requires_grad=True)
    value.grad = torch.full((3,), 7.0)
    kept, loss = value.grad, value.square().sum()
    recorded_order(loss, read_graph(loss))

    assert value.grad is kept
    assert value.grad.tolist() == [7.0] * 3


@pytest.fixture
def product(tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> LinkedGraph:
    monkeypatch.setenv("TORCHNAV_CACHE", str(cache))
    left, right = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    return linked(left * right, {"left": left, "right": right}, tree=str(tree), run=True)


def test_each_edge_has_its_formula(product: LinkedGraph) -> None:
    source = product.sources[0]

    assert source.entry is not None
    assert source.entry.op == "mul.Tensor"
    assert [(name, one.text if one else "") for name, one in source.formulas] == [
        ("self", "mul_tensor_backward(grad, other, self.scalar_type())"),
        ("other", "mul_tensor_backward(grad, self, other.scalar_type())"),
    ]


def test_the_chain_rule_for_one_variable(product: LinkedGraph) -> None:
    assert chains(product.nodes, "right") == [((0, 1),)]
    lines = [*chain_lines(product, "right")]

    assert lines[0] == "gradient of right"
    assert "other: mul_tensor_backward(grad, self, other.scalar_type())" in lines[3]
    assert [*chain_lines(product, "nothing")] == ["no path leads to nothing"]


def test_shortcuts_that_double_the_ways_end() -> None:
    value = torch.ones(2, requires_grad=True)
    total = value
    for _ in range(60):
        total = total + total
    found = read_graph(total.sum(), {"value": value})

    assert len(chains(found.nodes, "value")) == 20


def test_text_json_and_dot(product: LinkedGraph) -> None:
    text = str(product)
    assert "self <- #1 AccumulateGrad left" in text
    assert "order in which they ran" in text
    data = json.loads(product.as_json())["nodes"]
    assert [node["ran"] for node in data] == [0, *sorted([1, 2], key=product.order.index)]
    assert data[0]["edges"][0]["formula"]["text"].startswith("mul_tensor_backward")
    assert 'n0 -> n1 [label="self"];' in product.dot()


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_svg(product: LinkedGraph) -> None:
    drawn = ElementTree.fromstring(product.svg())
    assert drawn.tag.endswith("svg")
    assert "AccumulateGrad" in "".join(drawn.itertext())


def test_without_graphviz_svg_says_what_to_install(
    product: LinkedGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ValueError, match="Graphviz"):
        product.svg()
