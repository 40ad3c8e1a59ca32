"""Which of several functions a call can mean by its arguments."""

from __future__ import annotations

import pytest

from indexes.linking.arguments import chosen, fitting, operator_base
from indexes.linking.facts import Call, Known, by_hand
from indexes.model.vocabulary import Definition, Location
from indexes.readers.cxx.marks import type_mark
from indexes.readers.yaml.native_functions import read_native_functions

YAML = b"""
- func: size.int(Tensor self, int dim) -> int
  variants: function
  manual_cpp_binding: True
- func: size.Dimname(Tensor self, Dimname dim) -> int
  variants: function, method
- func: any(Tensor self) -> Tensor
- func: any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor
  cpp_no_default_args: ['dim']
- func: sub.Scalar(Tensor self, Scalar other) -> Tensor
  variants: function
- func: norm.dim_dtype(Tensor self, int[1] dim, *, ScalarType dtype) -> Tensor
- func: norm.dim(Tensor self, int[1] dim) -> Tensor
"""
NATIVES = read_native_functions(YAML, "native_functions.yaml")[0]


def function(number: int, parameters: str) -> Known:
    return Known(number, Definition("f", "at", "function", Location("f.cpp", number), parameters))


def meant(arguments: str, *candidates: Known, given: str = "") -> list[int]:
    call = Call("f", "at", 1, "call", "", arguments, given=given)
    return [one.id for one in chosen(call, candidates, lambda name: "?")]


def test_a_default_may_stand_where_a_function_is_declared() -> None:
    launch = function(1, "const void* args[], const dim3 blocks, const int shared")
    assert meant("? I", launch) == [1]


def test_one_that_takes_as_many_arguments_comes_before_defaults() -> None:
    longer = function(1, "const Tensor& x, int64_t dim, bool keepdim")
    exact = function(2, "const Tensor& x, int64_t dim")
    assert meant("T i", longer, exact) == [2]


def test_a_pointer_of_unknown_type_decides_and_not_a_number_in_writing() -> None:
    floats = function(1, "int64_t n, float alpha, const float* x")
    integers = function(2, "int64_t n, int64_t alpha, const int64_t* x")
    assert meant("i i .data_ptr", floats, integers, given=",1") == [1, 2]
    assert meant("i i ?", floats, integers, given="n,alpha") == [2]
    same = function(3, "int64_t n, float alpha, const int64_t* x")
    assert meant("i i ?", same, integers, given="n,1") == [2]


def test_a_list_of_scalars_is_no_single_one() -> None:
    one = function(1, "TensorList x, const Scalar& scalar")
    many = function(2, "TensorList x, at::ArrayRef<Scalar> scalars")
    assert [meant(given, one, many) for given in ("L S", "L A")] == [[1], [2]]
    assert type_mark("std::vector<c10::Scalar>") == "A"


def test_more_arguments_than_parameters_mean_something_else() -> None:
    assert meant("T i i", function(1, "const Tensor& x, int64_t dim")) == []


def test_an_argument_may_have_no_default_in_cpp() -> None:
    overloads = [one for one in NATIVES if one.name == "any"]
    call = Call("any", "at", 1, "call", "", "T")
    assert [o.full_name for o in fitting(call, overloads, lambda name: "?")] == ["any"]


@pytest.mark.parametrize(("given", "found"), [("T i", "norm.dim"), ("T i D", "norm.dim_dtype")])
def test_a_dtype_alone_is_an_argument_as_others(given: str, found: str) -> None:
    overloads = [one for one in NATIVES if one.name == "norm"]
    call = Call("norm", "at", 1, "call", "", given)
    assert [one.full_name for one in fitting(call, overloads, lambda name: "?")] == [found]


@pytest.mark.parametrize(
    ("name", "argument", "found"),
    [("size", "i", ["size.int"]), ("size", "?", ["size.int", "size.Dimname"]), ("sub", "?", [])],
)
def test_a_method_is_made_by_torchgen_or_written_by_hand(
    name: str, argument: str, found: list[str]
) -> None:
    overloads = [one for one in NATIVES if one.name == name]
    call = Call(name, "", 1, "member", "", argument, "T")
    able = fitting(call, overloads, lambda name: "?")
    assert [one.full_name for one in able] == found
    assert [by_hand(one) for one in able] == [one == "size.int" for one in found]


def test_a_pack_takes_what_is_left_no_worse_than_parameters_do() -> None:
    scalars = function(1, "List& lists, ScalarList scalars, T callable, ArgTypes... args")
    plain = function(2, "List& lists, T callable, ArgTypes... args")
    assert meant("? ? ? ?", scalars, plain) == [1, 2]


@pytest.mark.parametrize(
    "name", ["pad_symint", "pad_out", "pad_outf", "pad_symint_out", "pad_symint_outf", "pad"]
)
def test_a_call_of_an_operator_is_named_as_torchgen_names_it(name: str) -> None:
    assert operator_base(Call(name, "at", 1, "call", "")) == "pad"
