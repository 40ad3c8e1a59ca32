"""A line says what it calls, and which operators reach it by which way: on the small tree."""

from __future__ import annotations

import pytest

from indexes.linking.graph import Node
from indexes.linking.reverse import operators_reaching
from indexes.model.answers import Callee, Place
from indexes.queries.index import Index
from tests.tree_marks import NATIVE, Mark, marks


def _at(index: Index, path: str, text: str) -> tuple[Place, ...]:
    """What stands at the first line of a file that holds a text."""
    return index.at(path, index.read(path).split(text)[0].count("\n") + 1)


def _calls(index: Index, path: str, text: str) -> dict[str, Callee]:
    return {one.name: one for place in _at(index, path, text) for one in place.calls}


def test_a_line_names_the_stub_it_calls_and_where_that_is_defined(tree_index: Index) -> None:
    (stub,) = _calls(tree_index, f"{NATIVE}ReduceOps.cpp", "sum_stub(iter.").values()
    assert (stub.kind, stub.name) == ("stub", "at::native::sum_stub")
    assert stub.location is not None
    assert "DEFINE_DISPATCH(sum_stub)" in _text(tree_index, stub)


def _text(index: Index, one: Callee) -> str:
    assert one.location
    return index.read(one.location.path).split("\n")[one.location.line - 1]


def test_a_line_names_what_it_launches(tree_index: Index) -> None:
    path = f"{NATIVE}cuda/Reduce.cuh"
    (launched,) = _calls(tree_index, path, "<<<").values()
    assert launched.kind == "launch"
    assert launched.name.endswith("reduce_kernel")


def test_only_the_innermost_function_says_what_the_line_calls(tree_index: Index) -> None:
    places = _at(tree_index, f"{NATIVE}cuda/ReduceSumKernel.cu", "gpu_reduce_kernel<scalar_t")
    assert [bool(place.calls) for place in places] == [True, False]


def test_a_line_in_a_macro_says_what_its_names_mean_where_it_is_used(tree_index: Index) -> None:
    path = f"{NATIVE}BinaryOps.cpp"
    (place, *_) = _at(tree_index, path, "build_borrowing_comparison_op(maybe_get_output(), self")
    assert place.kind == "macro"
    assert {"eq.Scalar", "eq.Tensor"} <= set(place.operators)


def _launches() -> list[Mark]:
    return [mark for mark in marks("hop") if mark.words[1:] == ("launch",)]


def _short(mark: Mark) -> str:
    return f"{mark.path.rpartition('/')[2]}:{mark.line}:{mark.words[0]}"


@pytest.mark.parametrize("mark", _launches(), ids=_short)
def test_each_global_function_leads_back_to_its_operators(mark: Mark, tree_index: Index) -> None:
    assert mark.words[0] in {op for p in tree_index.at(*mark.spot) for op in p.operators}


def test_a_way_leads_from_the_operator_down_for_its_device(tree_index: Index) -> None:
    (place, *_) = _at(tree_index, f"{NATIVE}cuda/Reduce.cuh", "void reduce_kernel(")
    way = next(way for way in place.ways if way.op == "sum.IntList_out")
    assert (way.side, way.devices) == ("kernel", ("CUDA",))
    through = [one.symbol.rpartition("::")[2] for one in way.via]
    assert through[:3] == ["sum_out", "sum_stub", "sum_kernel_cuda"]


def test_what_checks_inputs_leads_back_by_the_meta_side(tree_index: Index) -> None:
    (place, *_) = _at(tree_index, f"{NATIVE}BinaryOps.cpp", "TORCH_META_FUNC2(mul, Tensor)")
    assert {"mul.out"} <= {way.op for way in place.ways if way.side == "meta"}


def test_a_function_of_a_formula_leads_back_by_the_backward_side(tree_index: Index) -> None:
    (hit, *_) = tree_index.resolve("mul_tensor_backward").hits
    (place, *_) = tree_index.at(hit.location.path, hit.location.line)
    assert {("mul.Tensor", "backward"), ("mul.Scalar", "backward")} <= {
        (way.op, way.side) for way in place.ways
    }


def test_the_nearest_operators_come_first(tree_index: Index) -> None:
    (hit, *_) = tree_index.resolve("at::native::mul_kernel").hits
    found = next(k for k in tree_index.facts.named("mul_kernel"))
    assert found.definition.location == hit.location
    ways = operators_reaching([Node("definition", found.id)], tree_index.facts)
    lengths = [len(way.steps) for way in ways]
    assert lengths == sorted(lengths)
    assert len(lengths) > 1


def test_who_calls_an_operator(tree_index: Index) -> None:
    for caller, called in (("linear", "addmm"), ("softmax.int", "_softmax")):
        ways = operators_reaching([Node("operator", called)], tree_index.facts)
        assert caller in {way.op for way in ways}


def test_a_function_that_a_block_registers_leads_back_to_its_operators(tree_index: Index) -> None:
    found = next(k for k in tree_index.facts.named("run") if "QConvInt8" in k.definition.scope)
    ways = operators_reaching([Node("definition", found.id)], tree_index.facts)
    assert {"quantized::conv2d.new", "quantized::conv3d.new"} == {way.op for way in ways}


def test_a_function_that_no_operator_reaches_says_why(tree_index: Index) -> None:
    (unused, *_) = _at(tree_index, f"{NATIVE}cuda/SoftMax.cu", "void cunn_SoftMaxUnused(")
    assert unused.operators == ()
    assert unused.rule == "nothing in this tree is known to launch it"


def test_the_stable_abi_calls_operators_by_name(tree_index: Index) -> None:
    """In namespaces that macros open and close, in both versions of the call."""
    path = "torch/csrc/stable/ops.h"
    for text in ("(torch_call_dispatcher(", "aoti_torch_call_dispatcher("):
        (one,) = [place for place in _at(tree_index, path, text) if place.calls]
        assert [(call.kind, call.name) for call in one.calls] == [("operator", "relu")]
    known = tree_index.facts.definitions_in(path)
    names = [one.definition.qualified for one in known]
    assert names == ["torch::stable::relu", "is_stable_abi"]


def test_a_line_of_a_body_that_the_index_lacks_names_its_calls_too(tree_index: Index) -> None:
    path = "torch/csrc/Module.cpp"
    called = _calls(tree_index, path, "checked_size(size);")["checked_size"]
    assert _text(tree_index, called).startswith("static int checked_size")
    (place,) = _at(tree_index, path, "checked_size(size);")
    assert place.rule == "its uses are not in the index: torchnav callers THPModule_size"
