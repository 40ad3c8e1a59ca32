"""Overloads of formula functions, decided as C++ would by what the formula gives them."""

from __future__ import annotations

import pytest

from indexes.linking.formulas import calls_in, chosen_overloads, formula_calls
from indexes.model.vocabulary import Definition, Location
from indexes.readers.yaml.native_functions import read_native_functions

YAML = b"""
- func: pow.Scalar(Scalar self, Tensor exponent) -> Tensor
- func: pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor
- func: squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)
- func: squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)
- func: clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor
- func: clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor
- func: _foreach_pow.List(Tensor[] self, Tensor[] exponent) -> Tensor[]
"""
NATIVES = {f.full_name: f for f in read_native_functions(YAML, "n.yaml")[0]}
OVERLOADS = {
    "pow_backward": (
        "const Tensor& grad, const Tensor& self, const Tensor& exponent",
        "const Tensor& grad, const Scalar& self, const Tensor& exponent",
    ),
    "unsqueeze_to": (
        "const Tensor& self, c10::SymIntArrayRef sizes",
        "const Tensor& self, IntArrayRef dims, c10::SymIntArrayRef sizes",
        "const Tensor& self, int64_t dim, c10::SymIntArrayRef sizes",
    ),
    "clamp_backward": (
        "const Tensor& self, const std::optional<Scalar>& min",
        "const Tensor& self, const Tensor& min",
    ),
    "handle_r_to_c": (
        "ScalarType self_st, Tensor gradient_result",
        "const Tensor& self, Tensor gradient_result",
    ),
}


def unknown(name: str) -> str:
    """What a call returns of which nothing is known."""
    return "?"


def overloads(name: str) -> list[Definition]:
    return [
        Definition(name, "details", "function", Location("F.cpp", line), parameters)
        for line, parameters in enumerate(OVERLOADS[name], 1)
    ]


@pytest.mark.parametrize(
    ("op", "formula", "name", "lines"),
    [
        ("pow.Scalar", "pow_backward(grad, self, exponent)", "pow_backward", [2]),
        ("pow.Tensor_Tensor", "pow_backward(grad, self, exponent)", "pow_backward", [1]),
        ("_foreach_pow.List", "pow_backward(grads[i], self[i], exponent[i])", "pow_backward", [1]),
        ("squeeze.dim", "unsqueeze_to(grad, self.sym_sizes())", "unsqueeze_to", [1]),
        ("squeeze.dim", "unsqueeze_to(grad, dim, self.sym_sizes())", "unsqueeze_to", [3]),
        ("squeeze.dims", "unsqueeze_to(grad, dim, self.sym_sizes())", "unsqueeze_to", [2]),
        ("clamp", "clamp_backward(self, min)", "clamp_backward", [1]),
        ("clamp.Tensor", "-clamp_backward(self, min)", "clamp_backward", [2]),
        ("clamp", "handle_r_to_c(self.scalar_type(), grad)", "handle_r_to_c", [1]),
        ("clamp", "handle_r_to_c(self, f(grad, 2))", "handle_r_to_c", [2]),
        ("clamp", "handle_r_to_c(g(x), grad)", "handle_r_to_c", [1, 2]),
        ("clamp", "pow_backward(self)", "unsqueeze_to", [1, 2, 3]),
    ],
)
def test_what_the_call_means(op: str, formula: str, name: str, lines: list[int]) -> None:
    found = chosen_overloads(formula, name, overloads(name), NATIVES[op], unknown)
    assert [d.location.line for d in found] == lines


def test_calls_that_differ_mean_each_their_own() -> None:
    text = "unsqueeze_to(grad, self.sym_sizes()) + unsqueeze_to(grad, dim, self.sym_sizes())"
    native = NATIVES["squeeze.dim"]
    found = chosen_overloads(text, "unsqueeze_to", overloads("unsqueeze_to"), native, unknown)
    assert [d.location.line for d in found] == [1, 3]


def test_what_a_formula_gives_has_the_types_of_the_schema() -> None:
    text = 'clamp(grads[0] * f("a(b)"), min, result0_t).sum(self.sym_sizes())'
    calls = {one.name: one for one in calls_in(text, NATIVES["clamp"])}
    assert list(calls) == ["clamp", "operator*", "f", "sum"]
    assert calls["clamp"].arguments == "T S T"
    assert (calls["sum"].kind, calls["sum"].arguments) == ("member", "I")


def test_calls_of_a_formula() -> None:
    text = (
        "at::where(x, std::get<0>(f(a)), self.sgn().conj()) * g (grad->sizes()) "
        '+ not_implemented("h(x)") + static_cast<int64_t>(1) + std::vector<at::Tensor>() + f(b)'
    )
    assert formula_calls(text) == (
        "at::where",
        "std::get",
        "f",
        "g",
        "not_implemented",
        "std::vector",
    )
