"""Launches of kernels."""

from __future__ import annotations

import pytest

from indexes.queries.index import Index
from tests.indexes.linking.edges.reading import edges


@pytest.mark.parametrize("name", ["edges_of_launches", "edges_of_macros", "edges_of_pointers"])
def test_a_launch_leads_to_its_global_function(index: Index, name: str) -> None:
    launched = [edge for edge in edges(index, name) if edge.kind == "launch"]
    assert launched
    (kernel,) = index.facts.named("edge_kernel")
    assert {edge.target for edge in launched} == {kernel.id}
    by_rule = name == "edges_of_pointers"
    assert {edge.confidence for edge in launched} == {"by rule" if by_rule else "exact"}


def test_an_object_that_is_made_runs_its_constructor(index: Index) -> None:
    (made,) = edges(index, "edges_of_constructors")
    assert isinstance(made.target, int)
    (launch,) = index.facts.edges(made.target)
    (kernel,) = index.facts.named("edge_kernel")
    assert (made.kind, launch.kind, launch.target) == ("call", "launch", kernel.id)
