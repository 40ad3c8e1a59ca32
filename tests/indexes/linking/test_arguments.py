"""Which of several functions a call can mean by its arguments."""

from __future__ import annotations

from indexes.linking.arguments import chosen
from indexes.linking.facts import Call, Known
from indexes.model.vocabulary import Definition, Location


def function(number: int, parameters: str) -> Known:
    return Known(number, Definition("f", "at", "function", Location("f.cpp", number), parameters))


def meant(arguments: str, *candidates: Known) -> list[int]:
    call = Call("f", "at", 1, "call", "", arguments)
    return [one.id for one in chosen(call, candidates, lambda name: "?")]


def test_a_default_may_stand_where_a_function_is_declared() -> None:
    launch = function(1, "const void* args[], const dim3 blocks, const int shared")
    assert meant("? I", launch) == [1]


def test_one_that_takes_as_many_arguments_comes_before_defaults() -> None:
    longer = function(1, "const Tensor& x, int64_t dim, bool keepdim")
    exact = function(2, "const Tensor& x, int64_t dim")
    assert meant("T i", longer, exact) == [2]


def test_more_arguments_than_parameters_mean_something_else() -> None:
    assert meant("T i i", function(1, "const Tensor& x, int64_t dim")) == []
