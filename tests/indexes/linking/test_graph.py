"""The graph on the small tree: down and up are each other's inverse, generated kernels lead on."""

from __future__ import annotations

import pytest

from indexes.linking.facts import Edge
from indexes.linking.graph import Graph, Node, Step
from indexes.queries.index import Index


@pytest.fixture(scope="module")
def graph(tree_index: Index) -> Graph:
    return Graph(tree_index.facts)


@pytest.fixture(scope="module")
def steps(graph: Graph, tree_index: Index) -> set[Step]:
    """Every step of every way from an operator down."""
    found: set[Step] = set()
    seen: set[Node] = set()
    pending = [Node("operator", op.full_name) for op in tree_index.operators()]
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            below = set(graph.down(node))
            found |= below
            pending += [step.lower for step in below]
    return found


def test_what_leads_down_leads_up(graph: Graph, steps: set[Step]) -> None:
    assert len(steps) > 500
    assert [step for step in steps if step not in set(graph.up(step.lower))] == []


def test_what_leads_up_leads_down(graph: Graph, steps: set[Step]) -> None:
    above = {step for one in {step.lower for step in steps} for step in graph.up(one)}
    assert [step for step in above if step not in set(graph.down(step.upper))] == []


def _operators_below(graph: Graph, name: str) -> set[object]:
    return {s.lower.what for s in graph.down(Node("operator", name)) if s.lower.kind == "operator"}


@pytest.mark.parametrize(
    ("made", "called"),
    [
        ("relu.out", "relu"),
        ("copy.out", "copy"),
        ("view_as_real_copy", "view_as_real"),
        ("view_as_real_copy", "clone"),
        ("view_as_real_copy.out", "view_as_real_copy"),
        ("_foreach_add.Scalar_out", "_foreach_add.Scalar"),
    ],
)
def test_a_kernel_that_torchgen_makes_calls_another_operator(
    made: str, called: str, graph: Graph
) -> None:
    assert called in _operators_below(graph, made)


def test_a_stub_that_torchgen_makes_leads_to_the_inner_loops(graph: Graph) -> None:
    below = graph.down(Node("stub", "at::native::add_stub", "CPU"))
    found = [graph.facts.by_id(step.lower.what) for step in below]  # type: ignore[arg-type]
    assert {one.definition.qualified for one in found if one} == {"at::native::ufunc::add"}


def _static(symbol: str) -> Edge:
    return Edge(1, 1, "static dispatch", symbol, "mul.out")


@pytest.mark.parametrize(
    ("symbol", "device"), [("at::cpu::mul_out", "CPU"), ("at::cuda::mul_out", "CUDA")]
)
def test_a_call_of_the_kernel_of_one_key_is_for_its_device(
    symbol: str, device: str, graph: Graph
) -> None:
    step = graph.step(Node("definition", 1), _static(symbol))
    assert step is not None
    assert step.lower == Node("operator", "mul.out", device)
    assert graph.step(Node("definition", 1, "MPS"), _static(symbol)) is None
