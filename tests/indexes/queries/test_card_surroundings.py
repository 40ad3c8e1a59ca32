"""What the card says of what stands around an operator, on the small tree."""

from __future__ import annotations

import pytest

from indexes.model.errors import NotFound
from indexes.queries.index import Index
from tests.tree_marks import marks


def names(index: Index, op: str) -> list[str]:
    return [place.name for place in index.surroundings(op).python]


def test_public_names_stand_before_private_ones(tree_index: Index) -> None:
    assert names(tree_index, "relu")[:3] == [
        "torch.relu",
        "torch.nn.functional.relu",
        "torch.Tensor.relu",
    ]
    assert names(tree_index, "linear")[0] == "torch.nn.functional.linear"


def test_a_function_that_shadows_its_binding_stands_before_it(tree_index: Index) -> None:
    first, second = tree_index.surroundings("narrow").python[:2]
    assert (first.name, first.location.path) == ("torch.narrow", "torch/functional.py")
    assert second.name == "torch.Tensor.narrow"
    assert "torch._VF.narrow" in names(tree_index, "narrow")


def test_inductor_and_core_aten(tree_index: Index) -> None:
    lowered = tree_index.surroundings("cumsum").inductor
    assert lowered.status == "lowered"
    assert lowered.location
    assert lowered.location.path == "torch/_inductor/lowering.py"
    assert tree_index.surroundings("nonzero").inductor.status == "fallback"
    assert tree_index.surroundings("isinf").inductor.status == "lowered"
    assert tree_index.surroundings("gelu").inductor.status == "none"


def test_decompositions_stand_where_the_tree_marks_them(tree_index: Index) -> None:
    for mark in marks("hop"):
        if mark.words[1:] == ("decomposition",):
            found = tree_index.surroundings(mark.words[0]).decompositions
            assert mark.spot in {(one.location.path, one.location.line) for one in found}


def test_an_unknown_operator_is_refused(tree_index: Index) -> None:
    with pytest.raises(NotFound):
        tree_index.surroundings("no_such_thing")
