"""Formulas of the small tree against the marks beside them and against torchgen's own loader."""

from __future__ import annotations

from functools import cache
from typing import Any

from indexes.model.vocabulary import DerivativeEntry, FormulaSet
from indexes.queries.index import Index
from tests.tree_marks import NATIVE, TREE, YAML, marks

DERIVATIVES = "tools/autograd/derivatives.yaml"


@cache
def torchgen_infos() -> dict[str, dict[str, Any]]:
    """Operator -> autograd key -> what torchgen loads for it."""
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    paths = [str(TREE / p) for p in (DERIVATIVES, YAML, NATIVE + "tags.yaml")]
    infos, _ = load_derivatives(*paths)
    return {str(schema.name): keys for schema, keys in infos.items()}


@cache
def torchgen_matches() -> dict[str, str]:
    """Operator -> the Node class that torchgen gives it for Default.

    Without out= overloads: torchgen matches them too, but what it writes for them raises
    when a gradient is asked for.
    """
    from torchgen.api.autograd import match_differentiability_info
    from torchgen.gen import parse_native_yaml
    from torchgen.model import SchemaKind
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    functions = parse_native_yaml(str(TREE / YAML), str(TREE / NATIVE / "tags.yaml"))
    paths = [str(TREE / p) for p in (DERIVATIVES, YAML, NATIVE + "tags.yaml")]
    infos, _ = load_derivatives(*paths)
    matched = match_differentiability_info(functions.native_functions, infos)
    return {
        str(m.func.func.name): m.info["Default"].op
        for m in matched
        if m.func.func.kind() is not SchemaKind.out
        if m.info and m.info.get("Default") and m.info["Default"].op
    }


def _formula_spots(entry: DerivativeEntry) -> set[tuple[str, str, str, int]]:
    return {
        (entry.op, name, one.key, formula.location.line)
        for one in entry.sets
        for formula in one.formulas
        if formula.kind == "gradient"
        for name in formula.inputs
    }


def test_each_entry_and_formula_is_at_its_mark_and_no_other_is(tree_index: Index) -> None:
    entries = list(tree_index.derivative_rows())
    expected = {
        (m.words[0], m.words[1], m.words[2] if m.words[2:] else "Default", m.line)
        for m in marks("formula")
    }
    assert len(expected) > 50
    assert {spot for entry in entries for spot in _formula_spots(entry)} == expected
    places = {(m.words[0], *m.spot) for m in marks("entry")}
    assert {(e.op, e.location.path, e.location.line) for e in entries} == places


def test_the_node_classes_are_torchgens(tree_index: Index) -> None:
    for entry in tree_index.derivative_rows():
        named = {one.key: one.grad_fn for one in entry.sets}
        expected = {key: info.op for key, info in torchgen_infos()[entry.op].items()}
        assert named == expected, entry.op


def test_the_default_node_is_the_one_marked(tree_index: Index) -> None:
    nodes = {m.words[0]: m.words[1] if m.words[1:] else None for m in marks("entry")}
    found = {e.op: _default(e).grad_fn for e in tree_index.derivative_rows()}
    assert found == nodes


def _default(entry: DerivativeEntry) -> FormulaSet:
    return next(one for one in entry.sets if one.key == "Default")


def test_a_formula_is_the_whole_text_that_torchgen_reads(tree_index: Index) -> None:
    texts = {
        (e.op, one.key, f.inputs): f.text
        for e in tree_index.derivative_rows()
        for one in e.sets
        for f in one.formulas
    }
    assert texts["index_put_", "Default", ("self",)] == (
        "accumulate ? grad : grad.index_put(indices, values.new_zeros(1), false)"
    )
    assert texts["sum", "AutogradNestedTensor", ("self",)] == "ones_like(self) * grad"
    assert texts["linear", "Default", ("input", "weight", "bias")] == (
        "linear_backward(input, grad, weight, grad_input_mask)"
    )


def test_an_operator_uses_the_entry_that_torchgen_gives_it(tree_index: Index) -> None:
    """In-place overloads and view copies fall back on the entry of another overload."""
    found = {}
    for op in tree_index.operators():
        entry = tree_index.derivative(op.full_name)
        if entry and _default(entry).grad_fn:
            found[op.full_name] = _default(entry).grad_fn
    assert found["relu_"] == "ReluBackward0"
    assert found["add_.Tensor"] == "AddBackward0"
    assert found == torchgen_matches()


def test_a_node_leads_back_to_its_entry(tree_index: Index) -> None:
    for mark in marks("entry"):
        if mark.words[1:]:
            entries = tree_index.node(mark.words[1])
            assert [(e.op, e.location.line) for e in entries] == [(mark.words[0], mark.line)]
    assert tree_index.node("NoSuchBackward0") == ()


def test_a_node_of_another_autograd_key_is_known_too(tree_index: Index) -> None:
    (entry,) = tree_index.node("SumBackwardAutogradNestedTensor1")
    assert entry.op == "sum.dim_IntList"


def test_outputs_that_are_not_differentiable_are_kept(tree_index: Index) -> None:
    by_op = {e.op: e.output_differentiability for e in tree_index.derivative_rows()}
    assert by_op["eq.Tensor"] == ("False",)
    assert by_op["native_dropout"] == ("True", "False")
    assert by_op["mul.Tensor"] is None


def test_a_function_of_a_namespace_opened_by_a_using_directive_is_found(tree_index: Index) -> None:
    hops = [
        hop
        for hop in tree_index.chain("mul.Scalar").hops
        if hop.symbol.endswith("scalar_to_tensor")
    ]
    assert [(hop.role, hop.symbol) for hop in hops] == [
        ("formula_function", "c10::scalar_to_tensor")
    ]
