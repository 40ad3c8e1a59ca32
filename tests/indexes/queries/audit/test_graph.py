"""The checks of the graph, on the small tree: they are kept, and notice what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.linking.graph import Graph, Node, Step
from indexes.queries.audit.checks import SourceLines
from indexes.queries.audit.graph import BothWays, EdgeText, PlacedEdge, all_edges, with_text
from indexes.queries.audit.report import drawn
from indexes.queries.index import Index
from tests.indexing import opened


def test_the_graph_is_the_same_both_ways(tree_index: Index) -> None:
    graph = BothWays(tree_index)
    assert graph.steps > 500
    assert (list(graph.not_up()), list(graph.not_down())) == ([], [])


def test_a_step_that_leads_one_way_alone_is_noticed(
    tree_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Graph._below

    def some(self: Graph, node: Node) -> Iterator[Step]:
        return (step for step in whole(self, node) if step.lower.what != "mul.out")

    monkeypatch.setattr(Graph, "_below", some)
    graph = BothWays(tree_index)
    assert {step.lower.what for step in graph.not_down()} >= {"mul.out"}
    assert list(graph.not_up()) == []


@pytest.fixture(scope="module")
def text(tree_index: Index) -> EdgeText:
    return EdgeText(tree_index)


@pytest.fixture(scope="module")
def call(tree_index: Index) -> PlacedEdge:
    """A plain call in a plain function."""
    edges = (placed for placed in all_edges(tree_index) if not placed.caller.definition.macro)
    return next(one for one in edges if one.edge.kind == "call" and not one.edge.macro)


def test_an_edge_on_its_line_is_right(text: EdgeText, call: PlacedEdge) -> None:
    assert text.problem(call) == ""


def test_an_edge_on_another_line_is_noticed(text: EdgeText, call: PlacedEdge) -> None:
    moved = call.edge._replace(line=call.caller.definition.location.line + 1000)
    assert "the line does not name" in text.problem(call._replace(edge=moved))


def test_a_name_may_stand_on_another_line_of_its_statement(tree_copy: Path, cache: Path) -> None:
    kernel = tree_copy / "aten/src/ATen/native/Split.cpp"
    kernel.write_text(
        "namespace at::native {\n"
        "template <typename T> struct Halver { static void run(T x) {} };\n"
        "void halved(int x) {\n  Halver<\n      int>::run(x);\n}\n}\n"
    )
    with opened(tree_copy, cache) as index:
        (placed,) = [one for one in all_edges(index) if one.edge.symbol == "Halver::run"]
        assert EdgeText(index).problem(placed) == ""
        far = placed.edge._replace(line=1)
        assert "the line does not name run" in EdgeText(index).problem(placed._replace(edge=far))


def test_an_edge_to_another_name_is_noticed(
    text: EdgeText, call: PlacedEdge, tree_index: Index
) -> None:
    other = next(one.caller for one in all_edges(tree_index) if one.caller.id != call.edge.target)
    wrong = call.edge._replace(target=other.id)
    assert f"{other.definition.name} is another name" in text.problem(call._replace(edge=wrong))


def test_steps_are_drawn_by_seed_with_their_text(tree_index: Index) -> None:
    graph, lines = BothWays(tree_index), SourceLines(tree_index)
    steps = graph.drawn(30, 7)
    assert steps == graph.drawn(30, 7) != graph.drawn(30, 8)
    texts = [with_text(step, tree_index, lines) for step in steps]
    assert len(set(texts)) == 30
    assert any("aten/src/ATen/native/" in text and "operator, " in text for text in texts)
    assert drawn(tree_index, 5, 1).counts == {"drawn": 5, "seed": 1}
