"""Dotted Python names on the small tree: each mechanism by which a package gives a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.index import Index
from indexes.queries.python_names import find
from tests.indexing import append, opened, write
from tests.tree_marks import Mark, marks

MARKS = [(name, mark) for mark in marks("python") for name in mark.words[0].split(",")]


@pytest.mark.parametrize(("name", "mark"), MARKS, ids=[name for name, _ in MARKS])
def test_a_name_leads_to_the_line_that_python_says(
    name: str, mark: Mark, tree_index: Index
) -> None:
    answer = find(name, tree_index)
    assert answer
    assert answer.location
    assert (answer.location.path, answer.location.line) == mark.spot
    assert answer.kind == mark.words[1]


@pytest.mark.parametrize(
    "name",
    [
        "torch.optim.not_exported",  # __all__ leaves it out of the star import
        "torch.optim.Adam.nothing",
        "torch.nothing.Adam",
        "torch.optim.nothing",
        "torch.Tensor.nothing",
        "torch.optim.adam.Adam",
        "torch.optim.",
        "nothing.at.all",
    ],
)
def test_a_name_that_python_does_not_have_is_not_found(name: str, tree_index: Index) -> None:
    assert find(name, tree_index) is None


@pytest.mark.parametrize(
    ("name", "operator"),
    [
        ("torch.mul", "mul.Tensor"),
        ("torch.Tensor.mul_", "mul_.Tensor"),
        ("torch.optim.mul", "mul.Tensor"),  # _add_docstr returns what it is given
        ("torch.optim.add", "add.Tensor"),  # globals() in a loop over dir()
        ("torch.optim.swa.mul", "mul.Tensor"),  # __getattr__ of what replaces the module
    ],
)
def test_a_name_that_is_bound_in_cpp_leads_to_its_operator(
    name: str, operator: str, tree_index: Index
) -> None:
    answer = find(name, tree_index)
    assert answer
    assert answer.kind == "bound"
    assert operator in answer.operators


def test_a_made_function_names_what_it_was_made_from(tree_index: Index) -> None:
    answer = find("torch.optim.clip", tree_index)
    assert answer
    assert answer.defined == "torch.optim._maker.chosen"
    kinds = [(place.kind, place.name) for place in answer.places]
    assert kinds[1][0] == "assigned"
    assert ("function", "torch.optim._adam.adam") in kinds
    assert ("function", "torch.optim.zero_grad") in kinds


def test_a_second_name_shows_where_it_is_given(tree_index: Index) -> None:
    answer = find("torch.optim.clear_grad", tree_index)
    assert answer
    assert answer.defined == "torch.optim.zero_grad"
    assert [place.kind for place in answer.places] == ["function", "assigned"]


def test_a_bare_name_of_several_definitions_lists_them_all(tree_index: Index) -> None:
    answer = find("AdamW", tree_index)
    assert answer
    assert answer.confidence == "ambiguous"
    assert answer.defined == "torch.optim._adam.AdamW"
    assert answer.name == "torch.optim.AdamW"
    decoy, bound = answer.others
    assert decoy.name == "torch.optim.decoys.AdamW"
    assert (bound.kind, bound.location.path) == ("bound", "torch/_C/__init__.pyi.in")


@pytest.mark.parametrize("name", ["torch.optim.swa", "torch.optim.averaging", "optim.swa"])
def test_a_module_is_its_file(name: str, tree_index: Index) -> None:
    answer = find(name, tree_index)
    assert answer
    assert answer.kind == "module"
    assert answer.location
    assert answer.location.path == "torch/optim/swa.py"


@pytest.mark.parametrize(
    ("name", "line"),
    [("torch.float32", 8), ("torch.float", 8), ("torch.bfloat16", 10), ("torch.strided", 21)],
)
def test_objects_that_cpp_adds_to_torch(name: str, line: int, tree_index: Index) -> None:
    answer = find(name, tree_index)
    assert answer
    assert answer.location
    where = (answer.location.path, answer.location.line)
    assert where == ("torch/csrc/utils/tensor_dtypes.cpp", line)


def test_a_name_of_a_stub_file_and_the_class_that_a_list_of_public_names_leaves_out(
    tree_copy: Path, cache: Path
) -> None:
    for path in ("torch/_C/__init__.pyi.in", "torch/optim/modes.py", "torch/optim/_modes.py"):
        append(tree_copy, {path: "\n__all__ = []\nclass HeldMode:\n    pass\n"})
    with opened(tree_copy, cache) as index:
        answer = find("HeldMode", index)
    assert answer
    assert [one.location.path for one in answer.others] == ["torch/optim/modes.py"]


def test_a_name_of_another_package_is_where_the_tree_imports_it(
    tree_copy: Path, cache: Path
) -> None:
    append(tree_copy, {"torch/optim/swa.py": "\nfrom math import inf\n"})
    write(tree_copy, {"torch/_numpy/__init__.py": "inf = float('inf')\n"})
    with opened(tree_copy, cache) as index:
        answer = find("torch.optim.swa.inf", index)
    assert answer
    assert (answer.kind, answer.location and answer.location.path) == (
        "attribute",
        "torch/optim/swa.py",
    )


def test_a_name_further_down_in_a_package_is_said_to_be_there(tree_index: Index) -> None:
    found = tree_index.resolve("torch.fused_adam")
    assert found.hits[0].name == "torch.optim._adam.fused_adam"
    assert found.note == "torch has no fused_adam: this is further down in it"
