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


def test_before_1_8_out_arguments_came_first() -> None:
    schema = "add.out(Tensor self, Tensor? other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    native = NativeFunction("add", "out", schema, Location("y", 1), {}, None)
    row = Row("add.out", "SparseCPU", "add_out_sparse", "plain", native, native, 1, "in dispatch")
    tensors = "const SparseTensor& t, const SparseTensor& src"
    old = _defined(f"SparseTensor& r, {tensors}, Scalar value")
    optional = "const SparseTensor& t, const std::optional<Tensor>& src"
    new = _defined(f"{optional}, const Scalar& value, SparseTensor& r")
    other = _defined(f"{tensors}, Scalar value")
    matches = Matchers({}).of(row)
    assert link_kernel(row, [other, old], matches, True).definitions == (old,)
    assert "out arguments first" in link_kernel(row, [old], matches, True).rule
    assert link_kernel(row, [old, new], matches, True).definitions == (new,)


def test_before_1_8_the_options_of_a_factory_were_one() -> None:
    options = "ScalarType dtype, Layout layout, Device device, bool pin_memory=False"
    schema = f"filled(int[] size, *, {options}) -> Tensor"
    native = NativeFunction("filled", "", schema, Location("y", 1), {}, None)
    row = Row("filled", "CPU", "filled", "plain", native, native, 1, "in dispatch")
    old = _defined("IntArrayRef size, const TensorOptions& options")
    assert link_kernel(row, [old], Matchers({}).of(row), True).definitions == (old,)
