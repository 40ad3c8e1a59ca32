"""On which devices operators run, and whether they are differentiable, by what they call."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from indexes.linking.graph import Node
from indexes.linking.reverse import operators_reaching
from indexes.model.vocabulary import OperatorSummary
from indexes.queries.index import Index
from indexes.source.source import Source


def summary(index: Index, name: str) -> OperatorSummary:
    found = index.summary(name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["mul.Tensor", "relu", "_softmax"])
def test_operators_with_kernels_run_where_these_do(tree_index: Index, name: str) -> None:
    one = summary(tree_index, name)
    assert {"CPU", "CUDA"} <= set(one.devices) <= set(one.keys)
    assert one.differentiable == one.has_derivative


def test_composite_operators_run_where_what_they_call_does(tree_index: Index) -> None:
    softmax, inner = summary(tree_index, "softmax.int"), summary(tree_index, "_softmax")
    assert softmax.keys == ("CompositeImplicitAutograd",)
    assert set(softmax.devices) >= set(inner.devices) >= {"CPU", "CUDA"}
    assert not softmax.has_derivative
    assert softmax.differentiable


def test_what_is_called_for_tensors_of_another_kind_is_left_out(
    tree_copy: Path, tmp_path: Path
) -> None:
    linear = tree_copy / "aten/src/ATen/native/Linear.cpp"
    text = linear.read_text().replace("at::mkldnn_linear(input, weight, *bias)", "at::relu(input)")
    linear.write_text(text)
    with closing(Index.open(Source.find(str(tree_copy)), tmp_path / "cache")) as index:
        called = dict(index.facts.document("composites"))["linear"]
    assert "addmm" in called
    assert "relu" not in called


def test_autograd_does_not_go_through_kernels_that_are_not_composite_for_it(
    tree_index: Index,
) -> None:
    explicit = [
        one
        for one in tree_index.operators()
        if not one.has_derivative and "CompositeImplicitAutograd" not in one.keys
    ]
    assert explicit
    assert not [one.full_name for one in explicit if one.differentiable]


@pytest.mark.parametrize("name", ["_softmax", "add.Tensor", "mul.Tensor", "addmm", "relu"])
def test_operators_that_others_call(tree_index: Index, name: str) -> None:
    callers = {way.op for way in operators_reaching([Node("operator", name)], tree_index.facts)} - {
        name
    }
    assert summary(tree_index, name).called == bool(callers)


def test_every_device_with_a_route_is_listed(tree_index: Index) -> None:
    for one in tree_index.operators():
        computing = {r.device for r in tree_index.routes(one.full_name) if r.kind != "none"}
        if one.keys == ("CompositeImplicitAutograd",):
            listed = set(one.devices)
            assert not listed or computing <= listed, one.full_name
