"""Operators that C++ names in literals."""

from __future__ import annotations

from indexes.readers.cxx.lexer import lex
from indexes.readers.cxx.operator_literals import (
    OperatorLiteral,
    operator_literals,
    operator_symbols,
)

TEXT = r"""// "ns::op" in a comment
static auto one = Dispatcher::singleton().findSchemaOrThrow("ns::op", "");
static auto two = callOp(
    "ns::op",
    "Scalar", x);
auto other = ns::op(x) + find("ns::op_") + find("my_ns::op") + find("ns::op::of");
m.impl(TORCH_SELECTIVE_NAME("ns::op"), TORCH_FN(run));
m.def("ns::op.out(Tensor x) -> Tensor");
const auto pattern = R"(
  %r = ns::op(%x)
)";
#define NAMED "ns::op"
"""


def test_literals() -> None:
    assert list(operator_literals(lex(TEXT), "ns::op")) == [
        OperatorLiteral(2, "", "findSchemaOrThrow", False),
        OperatorLiteral(4, "Scalar", "callOp", False),
        OperatorLiteral(7, "", "TORCH_SELECTIVE_NAME", True),
        OperatorLiteral(8, "out", "def", True),
        OperatorLiteral(10, None, "", False),
        OperatorLiteral(12, None, "", False),
    ]


def test_symbols() -> None:
    clean = "case ns::op:\n  return my::ns::op(ns::op_, ns::op::of) ||\n    kind == ns::op;\n"
    assert list(operator_symbols(clean, "ns::op")) == [1, 3]
