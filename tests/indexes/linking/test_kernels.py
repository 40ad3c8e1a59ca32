"""Which definition is the kernel of a row, where overloads differ in one type alone."""

from __future__ import annotations

from indexes.codegen.rows import Row
from indexes.linking.kernels import Matchers, link_kernel
from indexes.model.vocabulary import Definition, Location, NativeFunction

SCHEMA = "_fused_adagrad_.tensor_lr(Tensor(a!)[] self, Tensor[] steps, *, Tensor lr) -> ()"


def _row() -> Row:
    native = NativeFunction("_fused_adagrad_", "tensor_lr", SCHEMA, Location("y", 1), {}, None)
    symbol = "_fused_adagrad_kernel_cpu_"
    return Row(native.full_name, "CPU", symbol, "plain", native, native, 1, "named in dispatch")


def _defined(parameters: str) -> Definition:
    where = Location("FusedAdagrad.cpp", 9)
    name = "_fused_adagrad_kernel_cpu_"
    return Definition(name, "at::native", "function", where, parameters=parameters)


def test_a_function_of_a_number_is_not_the_kernel_of_an_overload_that_takes_a_tensor() -> None:
    lists = "at::TensorList params, at::TensorList steps"
    number, tensor = _defined(f"{lists}, const double lr"), _defined(f"{lists}, const Tensor& lr")
    unknown = _defined(f"{lists}, const LearningRate& lr")
    row = _row()
    matches = Matchers({}).of(row)
    assert link_kernel(row, [number, tensor], matches, True).definitions == (tensor,)
    assert link_kernel(row, [number, unknown], matches, True).definitions == (unknown,)
    missing = link_kernel(row, [number], matches, True)
    assert (missing.kind, missing.definitions) == ("missing", ())
    assert "no definition of _fused_adagrad_kernel_cpu_ with these parameters" in missing.reason
