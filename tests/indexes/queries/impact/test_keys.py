"""The dispatch keys with which operators are reached, and what is folded for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.model.impact import Impact, ReachedOperator
from indexes.queries.impact.answers import Impacts
from indexes.queries.impact.keys import KeySets
from indexes.queries.index import Index
from tests.indexing import opened


@pytest.fixture(scope="module")
def impacts(tree_index: Index) -> Impacts:
    return Impacts(tree_index)


@pytest.fixture(scope="module")
def keys(impacts: Impacts) -> KeySets:
    return impacts.facts.keys


def _named(found: Impact) -> dict[str, ReachedOperator]:
    return {one.name: one for one in found.operators}


def test_keys_of_backends_end_below_backend_select(keys: KeySets) -> None:
    assert {"CPU", "SparseCsrCPU", "NestedTensorCUDA", "MkldnnCPU", "Vulkan"} <= keys.every
    modes = ("Autograd", "FuncTorch", "Autocast", "Composite", "Python", "Conjugate", "ZeroTensor")
    assert not [key for key in keys.every if key.startswith(modes)]


def test_without_a_header_the_keys_that_end_with_a_device(impacts: Impacts, keys: KeySets) -> None:
    without = KeySets(impacts.facts.store, None)
    assert {"CPU", "SparseCsrCPU", "NestedTensorCUDA", "MkldnnCPU"} <= without.every <= keys.every
    assert (without.layout("SparseCsrCPU"), without.device("MkldnnCPU")) == ("SparseCsr", "CPU")


def test_a_composite_kernel_serves_what_has_no_kernel_of_its_own(keys: KeySets) -> None:
    served = keys.serving("empty_like", "CompositeExplicitAutograd")
    assert {"CPU", "CUDA", "SparseCPU"} <= served
    assert not served & keys.own("empty_like")
    assert not [key for key in served if keys.layout(key) == "NestedTensor"]
    implicit = keys.serving("softmax.int", "CompositeImplicitAutograd")
    assert implicit == keys.every - keys.own("softmax.int")
    assert keys.serving("add.Tensor", "AutogradCUDA") <= keys.of_device("CUDA")


def test_a_structured_meta_function_runs_for_all_backends(impacts: Impacts) -> None:
    reached = _named(impacts.impact("aten/src/ATen/native/LinearAlgebra.cpp:14", tests=False))
    assert (reached["mm"].aspects, reached["mm"].keys) == (("structured meta",), ())
    assert {"CPU", "CUDA", "Meta"} <= set(reached["addmm"].keys)  # its formulas call mm


def test_a_sparse_kernel_reaches_callers_with_its_keys_alone(impacts: Impacts) -> None:
    found = impacts.impact("add_sparse", tests=False)
    reached = _named(found)
    assert reached["add.Tensor"].keys == ("Sparse",)
    assert reached["sub.Tensor"].keys == ("Sparse",)  # its sparse kernel calls add
    assert reached["add.Scalar"].keys == ("SparseCPU", "SparseCUDA")  # it calls add for any key
    assert all("Sparse" in key for one in found.operators for key in one.keys)
    whole = _named(impacts.impact("add_sparse", tests=False, most=None))
    rest = [one for name, one in whole.items() if name not in reached]
    assert rest
    assert all(one.composite or one.confidence == "ambiguous" for one in rest)


def test_a_dense_kernel_is_called_by_kernels_of_other_layouts(impacts: Impacts) -> None:
    found = _named(impacts.impact("softmax_kernel_impl", tests=False, most=None))
    assert found["_softmax"].keys == ("CPU",)
    assert (found["softmax.int"].composite, found["softmax.int"].keys) == (True, ("CPU",))


def test_a_kernel_of_one_device_reaches_nothing_of_another(impacts: Impacts) -> None:
    found = impacts.impact("sum_out_mps", tests=False, most=None)
    assert found.operators
    assert all(one.keys == ("MPS",) for one in found.operators)


def test_what_is_folded_is_counted_and_listed_by_all(impacts: Impacts) -> None:
    few = impacts.impact("add_out_mps", tests=False)
    whole = impacts.impact("add_out_mps", tests=False, most=None)
    counted = sum(one.count for one in few.folded if "--all" in one.how)
    assert counted > 0
    assert len(few.operators) + counted == len(whole.operators)
    assert not [one for one in whole.folded if "--all" in one.how]
    assert {one.name for one in few.operators} < {one.name for one in whole.operators}
    assert not [one for one in few.operators if one.confidence == "ambiguous" and one.dispatches]


def test_ways_lead_from_the_change_to_each_operator_that_is_listed(impacts: Impacts) -> None:
    found = impacts.impact("add_out_mps", tests=False)
    assert [step.id for step in found.steps] == list(range(len(found.steps)))
    for one in found.operators:
        way = found.way(one.step)
        assert (way[0].parent, way[-1].symbol) == (None, one.name)


def test_kernels_for_other_keys_are_counted(impacts: Impacts) -> None:
    found = impacts.impact("NestedTensor_add_Tensor", tests=False)
    other = next(one for one in found.folded if "other dispatch keys" in one.what)
    assert other.count == 4
    assert "Nested" not in other.what


def test_all_keys_of_an_operator_are_not_named(keys: KeySets) -> None:
    runs = keys.of_operator("sin")
    assert keys.named("sin", runs) == ()
    nested = frozenset(key for key in runs if keys.layout(key) == "NestedTensor")
    assert keys.named("sin", nested) == ("NestedTensor",)
    assert keys.named("sin", frozenset(("SparseCPU",))) == ("SparseCPU",)


def test_a_kernel_with_other_parameters_than_expected_is_reached_by_its_name(
    tree_copy: Path, cache: Path
) -> None:
    path = tree_copy / "aten/src/ATen/native/nested/NestedTensorOps.cpp"
    text = path.read_text()
    assert "Tensor NestedTensor_relu(const Tensor& self" in text
    expected = "Tensor NestedTensor_relu(const Tensor& self"
    path.write_text(text.replace(expected, "Tensor NestedTensor_relu(int old, int self"))
    with opened(tree_copy, cache) as index:
        found = _named(Impacts(index).impact("NestedTensor_relu", tests=False))
    assert (found["relu"].keys, found["relu"].confidence) == (("NestedTensor",), "by rule")


def test_an_entry_with_unknown_fields_is_reached_by_the_function_of_its_name(
    tree_copy: Path, cache: Path
) -> None:
    native = tree_copy / "aten/src/ATen/native"
    entries = native / "native_functions.yaml"
    old = "- func: hardly_known(Tensor self) -> Tensor\n  use_old_dispatcher: full\n"
    entries.write_text(f"{entries.read_text()}\n{old}  variants: function\n")
    body = (
        "namespace at::native {\nTensor hardly_known(const Tensor& self) {\n  return self;\n}\n}\n"
    )
    (native / "HardlyKnown.cpp").write_text(body)
    with opened(tree_copy, cache) as index:
        assert index.facts.kernels("hardly_known") == ()
        found = _named(Impacts(index).impact("at::native::hardly_known", tests=False))
    assert found["hardly_known"].confidence == "by rule"
