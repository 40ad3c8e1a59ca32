"""Formulas of foreach operators, as torchgen makes them of the operator that each repeats."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from indexes.codegen.derivatives import repeated
from indexes.model.vocabulary import DerivativeEntry, Formula, FormulaSet, Location, NativeFunction
from indexes.queries.index import Index

HERE = Location("derivatives.yaml", 1)


def formulas(schema: str, single: str, *written: Formula) -> list[tuple[tuple[str, ...], str]]:
    """The inputs and texts of formulas of ``single`` for the foreach operator ``schema``."""
    entry = DerivativeEntry(
        single.partition("(")[0],
        single,
        HERE,
        (FormulaSet("Default", "XBackward0", written, HERE),),
    )
    name, _, overload = schema.partition("(")[0].partition(".")
    made = repeated(entry, NativeFunction(name, overload, schema, HERE, {}, None))
    return [(one.inputs, one.text) for part in made.sets for one in part.formulas]


def gradient(inputs: str, text: str) -> Formula:
    return Formula(tuple(inputs.split(", ")), text, HERE)


def test_lists_are_taken_by_element_and_scalars_as_they_are() -> None:
    assert formulas(
        "_foreach_pow.Scalar(Tensor[] self, Scalar exponent) -> Tensor[]",
        "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
        gradient("self", "pow_backward(grad, self, exponent)"),
    ) == [(("self",), "pow_backward(grads[i], self[i], exponent)")]


def test_arguments_have_their_own_names() -> None:
    assert formulas(
        "_foreach_addcmul.ScalarList(Tensor[] self, Tensor[] one, Tensor[] two, Scalar[] scalars)"
        " -> Tensor[]",
        "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
        gradient("tensor1", "handle(tensor1.scalar_type(), grad * (tensor2 * value).conj())"),
    ) == [(("one",), "handle(one[i].scalar_type(), grads[i] * (two[i] * scalars[i]).conj())")]


def test_words_and_members_that_only_contain_a_name_stay() -> None:
    assert formulas(
        "_foreach_exp(Tensor[] self) -> Tensor[]",
        "exp(Tensor self) -> Tensor",
        gradient("self", "x.grad + gradient * result + this.self"),
    ) == [(("self",), "x.grad + gradient * result[i] + this.self")]


def test_forward_formulas_have_primals_and_tangents() -> None:
    assert formulas(
        "_foreach_mul.List(Tensor[] self, Tensor[] rest) -> Tensor[]",
        "mul.Tensor(Tensor self, Tensor other) -> Tensor",
        Formula(("result",), "other_t * self_p + self_t * result", HERE, "forward"),
    ) == [(("result",), "rest_t * self_p + self_t * result[i]")]


def test_what_is_no_foreach_operator_keeps_its_entry() -> None:
    entry = DerivativeEntry(
        "mul.Tensor", "mul.Tensor(Tensor self, Tensor other) -> Tensor", HERE, ()
    )
    mul_ = NativeFunction(
        "mul_", "Tensor", "mul_.Tensor(Tensor(a!) self) -> Tensor(a!)", HERE, {}, None
    )
    assert repeated(entry, mul_) is entry


def test_the_chain_shows_them(tree_index: Index) -> None:
    chain = tree_index.chain("_foreach_mul.List")
    shown = [hop.symbol for hop in chain.hops if hop.role == "derivative"]
    assert any("grads[i]" in text and "other[i]" in text for text in shown)
    assert chain.derivative
    assert chain.derivative == tree_index.derivative("_foreach_mul.List")


# torchgen puts the element twice where a formula saves an argument and a property of it.
_TWICE = re.compile(r"\[i\]\[i\]")


def test_gradient_formulas_are_those_of_the_installed_torchgen(wheel: Index) -> None:
    autograd = pytest.importorskip("torchgen.packaged.autograd.load_derivatives")
    matching = pytest.importorskip("torchgen.api.autograd")
    packaged = Path(autograd.__file__).parents[1]
    native, tags = (str(packaged / "ATen/native" / name) for name in _YAML)
    infos, _ = autograd.load_derivatives(str(packaged / "autograd/derivatives.yaml"), native, tags)
    parsed = pytest.importorskip("torchgen.gen").parse_native_yaml(native, tags).native_functions
    compared = 0
    for one in matching.match_differentiability_info(parsed, infos):
        name = str(one.func.func.name)
        if name.startswith("_foreach_") and one.info and not one.func.func.name.name.inplace:
            entry = wheel.derivative(name)
            assert entry
            ours = {f.inputs: _plain(f.text) for part in entry.sets for f in part.formulas}
            for theirs in one.info["Default"].derivatives:
                assert ours[tuple(theirs.var_names)] == _plain(theirs.formula), name
                compared += 1
    assert compared > 80


_YAML = ("native_functions.yaml", "tags.yaml")


def _plain(formula: str) -> str:
    return _TWICE.sub("[i]", re.sub(r"\s+", "", formula))
