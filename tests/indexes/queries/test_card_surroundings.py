"""What the card says of what stands around an operator, on the small tree."""

from __future__ import annotations

import pytest

from indexes.model.errors import NotFound
from indexes.queries.index import Index
from tests.indexing import grown, line_of
from tests.tree_marks import NATIVE, marks


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


GENERATOR = """
SKIP_PYTHON_BINDINGS = [
    "leafy",
    "hidden",
]
"""
ENTRIES = """
- func: leafy(Tensor self) -> bool
  variants: method

- func: hidden(Tensor self) -> Tensor
"""
TABLE = """
PyMethodDef variable_methods[] = {
  {"leafy", THPVariable_leafy, METH_NOARGS, nullptr},
};
"""


def test_a_name_without_a_generated_binding_leads_to_the_one_written_by_hand(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    table = "tools/autograd/templates/python_variable_methods.cpp"
    generator = "tools/autograd/gen_python_functions.py"
    files = {f"{NATIVE}native_functions.yaml": ENTRIES, table: TABLE, generator: GENERATOR}
    with grown(tmp_path_factory, files) as index:
        by_hand, without = (
            next(one for one in index.card(name).lines if one.label == "Python")
            for name in ("leafy", "hidden")
        )
        assert by_hand.text == "torch.Tensor.leafy"
        assert by_hand.location
        assert by_hand.location.path == table
        assert by_hand.location.line == line_of(index, table, '{"leafy"')
        assert without.text == "no binding: torch.ops.aten.hidden"
        assert without.location
        assert without.location.path == generator
