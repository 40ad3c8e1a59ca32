"""C++ names: classes before their constructors, and names that no source defines as they stand."""

from __future__ import annotations

import pytest

from indexes.queries.index import Index

API = "torch/csrc/api/include/torch/"
DISPATCHER = "aten/src/ATen/core/dispatch/Dispatcher"


def places(index: Index, name: str) -> list[tuple[str, int]]:
    match = index.resolve(name)
    assert match.kind == "symbol"
    return [(hit.location.path, hit.location.line) for hit in match.hits]


def test_a_class_stands_before_its_constructors(tree_index: Index) -> None:
    found = places(tree_index, "OperatorEntry")
    assert found == [(f"{DISPATCHER}.h", 11), (f"{DISPATCHER}.cpp", 7)]


def test_a_class_of_the_core_stands_before_one_without_a_page(tree_index: Index) -> None:
    match = tree_index.resolve("Dispatcher")
    assert [hit.name for hit in match.hits] == [
        "c10::Dispatcher",
        "torch.fx.unification.Dispatcher",
    ]
    assert match.confidence == "ambiguous"


@pytest.mark.parametrize("name", ["torch::nn::Linear", "nn::Linear"])
def test_a_class_that_a_macro_makes_is_found_where_it_is_used(tree_index: Index, name: str) -> None:
    assert places(tree_index, name) == [(f"{API}nn/modules/linear.h", 12)]
    assert tree_index.resolve("torch::optim::Linear").kind == "none"


@pytest.mark.parametrize(
    ("name", "place", "meant"),
    [
        ("torch::Dispatcher", (f"{DISPATCHER}.h", 5), "at::Dispatcher"),
        ("at::Dispatcher", (f"{DISPATCHER}.h", 5), "c10::Dispatcher"),
        ("torch::Dtype", ("c10/core/ScalarType.h", 0), "at::ScalarType"),
    ],
)
def test_a_name_of_another_namespace(
    tree_index: Index, name: str, place: tuple[str, int], meant: str
) -> None:
    path, line = places(tree_index, name)[0]
    assert (path, line if place[1] else 0) == place
    match = tree_index.resolve(name)
    assert match.note.startswith(f"{name} is {meant}: ")
    assert match.confidence == "by rule"


def test_what_a_template_of_torchgen_defines(tree_index: Index) -> None:
    found = places(tree_index, "torch::from_blob")
    assert found == [("tools/autograd/templates/variable_factories.h", 7)]


def test_another_name_of_a_type_is_found_where_it_is_declared(tree_index: Index) -> None:
    match = tree_index.resolve("IntArrayRef")
    (hit,) = match.hits
    assert (hit.name, hit.location.path) == ("c10::IntArrayRef", f"{DISPATCHER}.h")
    assert hit.detail == "another name of ArrayRef<int64_t>"
