"""Which overload of an operator a call in C++ means."""

from __future__ import annotations

import pytest

from indexes.linking.facts import Call
from indexes.linking.overloads import by_hand, fitting_overloads
from indexes.readers.yaml.native_functions import read_native_functions

YAML = b"""
- func: size.int(Tensor self, int dim) -> int
  variants: function
  manual_cpp_binding: True
- func: size.Dimname(Tensor self, Dimname dim) -> int
  variants: function, method
- func: sub.Scalar(Tensor self, Scalar other) -> Tensor
  variants: function
"""
NATIVES = read_native_functions(YAML, "native_functions.yaml")[0]


@pytest.mark.parametrize(
    ("name", "argument", "found"),
    [("size", "1", ["size.int"]), ("size", "dim", ["size.int", "size.Dimname"]), ("sub", "x", [])],
)
def test_a_method_is_made_by_torchgen_or_written_by_hand(
    name: str, argument: str, found: list[str]
) -> None:
    overloads = [one for one in NATIVES if one.name == name]
    fitting = fitting_overloads(Call(name, "", 1, "member", ""), overloads, [argument])
    assert [one.full_name for one in fitting] == found
    assert [by_hand(one) for one in fitting] == [one == "size.int" for one in found]
