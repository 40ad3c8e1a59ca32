from __future__ import annotations

import pytest

from indexes.codegen.registration import library_registration
from indexes.model.vocabulary import Location

HERE = Location("x.cpp", 7)


@pytest.mark.parametrize(
    ("block", "arguments", "expected"),
    [
        (
            "aten, Functionalize, m",
            '"resize_", TORCH_FN(ns::f)',
            ("resize_", "Functionalize", "ns::f", False),
        ),
        (
            "aten, Autograd, m",
            '"copy_", torch::dispatch(DispatchKey::Autograd, TORCH_FN(VariableType::copy_))',
            ("copy_", "Autograd", "VariableType::copy_", False),
        ),
        (
            "aten, Tracer, m",
            '"detach_", torch::dispatch(c10::DispatchKey::CPU, detach_)',
            ("detach_", "CPU", "detach_", False),
        ),
        (
            "aten, Conjugate, m",
            '"add.out", torch::CppFunction::makeFallthrough()',
            ("add.out", "Conjugate", "fallthrough", True),
        ),
        (
            "aten, Vulkan, m",
            'TORCH_SELECTIVE_NAME("aten::cumsum"), TORCH_FN(cumsum)',
            ("cumsum", "Vulkan", "cumsum", False),
        ),
        (
            "quantized, QuantizedCPU, m",
            'TORCH_SELECTIVE_NAME("quantized::mul"), TORCH_FN(qmul<false>)',
            ("quantized::mul", "QuantizedCPU", "qmul<false>", False),
        ),
        (
            "aten, Batched, m",
            '"sum", static_cast<Tensor (*)(const Tensor&, int)>(sum)',
            ("sum", "Batched", "sum", False),
        ),
        (
            "aten, Batched, m",
            '"add.Tensor", binary<Tensor, at::add, const Scalar&>',
            ("add.Tensor", "Batched", "binary<Tensor, at::add, const Scalar&>", False),
        ),
        (
            "aten, CPU, m",
            '"f", [](const Tensor& a, int b) { return a; }',
            ("f", "CPU", "lambda", False),
        ),
        (
            "aten, FuncTorchBatched, m",
            '"g", CppFunction::makeFromBoxedFunction<boxed_batch>()',
            ("g", "FuncTorchBatched", "boxed_batch", False),
        ),
        (
            "aten, FuncTorchBatched, m",
            '"g", CppFunction::makeFromBoxedFunction< SINGLE_ARG(reduced<1, true>)>()',
            ("g", "FuncTorchBatched", "reduced", False),
        ),
        (
            "aten, m",
            '"f", c10::DispatchKey::CompositeExplicitAutograd, ::all_reduce',
            ("f", "CompositeExplicitAutograd", "::all_reduce", False),
        ),
    ],
)
def test_impl(block: str, arguments: str, expected: tuple[str, str, str, bool]) -> None:
    made = library_registration(block, "impl", arguments, HERE)
    assert made is not None
    assert (made.op, made.key, made.kernel, made.fallthrough) == expected
    assert made.location == HERE


def test_a_fallback_that_a_macro_names() -> None:
    macros = {
        "AUTOGRAD_FALLBACK": "torch::CppFunction::makeFromBoxedFunction<&autograd_fallback>()"
    }
    made = library_registration("_, AutogradCPU, m", "fallback", "AUTOGRAD_FALLBACK", HERE, macros)
    assert made is not None
    assert (made.op, made.key, made.kernel) == ("", "AutogradCPU", "autograd_fallback")


def test_a_key_that_a_macro_names() -> None:
    macros = {"FT_BATCHED_KEY": "FuncTorchBatched"}
    made = library_registration("aten, FT_BATCHED_KEY, m", "impl", '"f", rule', HERE, macros)
    assert made is not None
    assert (made.op, made.key) == ("f", "FuncTorchBatched")


def test_def_with_a_function_is_composite() -> None:
    schema = '"quantized::f(Tensor x, int[] y=[1, 2]) -> Tensor"'
    made = library_registration("quantized, m", "def", f"{schema}, TORCH_FN(f)", HERE)
    assert made is not None
    assert (made.op, made.key) == ("quantized::f", "CompositeImplicitAutograd")


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("def", '"f(Tensor x) -> Tensor"'),
        ("def", '"f(Tensor x) -> Tensor", {at::Tag::core}'),
        ("impl", "#op, f"),
        ("impl", ""),
        ("class_", '"A", b'),
    ],
)
def test_what_registers_no_kernel(method: str, arguments: str) -> None:
    assert library_registration("aten, CPU, m", method, arguments, HERE) is None
