"""The formula of each edge of a node, on the installed torch."""

from __future__ import annotations

import pytest

from indexes.queries.backward_engine import node_source
from indexes.queries.index import Index


@pytest.mark.parametrize(
    ("node", "edges", "inputs"),
    [
        ("AddmmBackward0", 3, ["self", "mat1", "mat2"]),
        ("CatBackward0", 4, ["tensors"] * 4),
        ("ViewBackward0_copy", 1, ["self"]),
        ("MulBackward0", 5, []),
    ],
)
def test_edges_are_the_tensors_with_formulas_in_the_order_of_the_schema(
    wheel: Index, node: str, edges: int, inputs: list[str]
) -> None:
    source = node_source(wheel, node, edges)

    assert source.entry is not None
    assert [name for name, _ in source.formulas] == inputs


def test_a_node_that_is_written_by_hand_has_its_class(wheel: Index) -> None:
    source = node_source(wheel, "AccumulateGrad", 0)

    assert source.entry is None
    assert source.definition is not None
    assert source.definition.location.path.endswith("accumulate_grad.h")


def test_a_function_of_the_program_is_unknown(wheel: Index) -> None:
    source = node_source(wheel, "MyOwnBackward", 1)

    assert (source.entry, source.definition, source.formulas) == (None, None, ())
