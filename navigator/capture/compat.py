"""Differences between versions of torch: names, and features that older ones lack."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any

import torch
from torch._C import _profiler

try:
    from torch.compiler import is_compiling
except ImportError:
    try:
        from torch._utils import is_compiling  # 2.1
    except ImportError:  # before: ask Dynamo, which 1.13 lacks

        def is_compiling() -> bool:
            dynamo_compiles = getattr(sys.modules.get("torch._dynamo"), "is_compiling", None)
            return dynamo_compiles is not None and bool(dynamo_compiles())


try:
    from torch.optim.optimizer import register_optimizer_step_post_hook
except ImportError:  # before 2.1

    def register_optimizer_step_post_hook(hook: Any) -> Any:
        """There are none: optimizers are not watched."""
        return torch.utils.hooks.RemovableHandle({})


__all__ = [
    "Marker",
    "TensorBase",
    "is_compiling",
    "is_wrapped",
    "never_compiled",
    "profiler_config",
    "register_optimizer_step_post_hook",
    "run_as_it_is",
]

TensorBase: type = getattr(torch._C, "TensorBase", None) or torch._C._TensorBase
"""The base class of ``torch.Tensor`` in C++; private before 2.2."""

Marker: Any = getattr(_profiler, "_RecordFunctionFast", torch.autograd.profiler.record_function)
"""A context manager that appears in a profile under its name; before 2.2, the slower one."""

is_wrapped: Callable[[Any], bool] = getattr(
    getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", lambda _: False
)
"""Whether ``torch.func`` has wrapped a tensor."""


def profiler_config(memory: bool, experimental: Any) -> Any:
    """Shapes, but no stacks, which cost more than they are worth."""
    make: Any = _profiler.ProfilerConfig
    plain = (_profiler.ProfilerState.KINETO, True, memory, False, False, False, experimental)
    try:
        return make(*plain, "")
    except TypeError:  # before 2.6 a trace had no id
        return make(*plain)


_set_eval_frame: Any = getattr(
    getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None), "set_eval_frame", None
)


def run_as_it_is() -> None:
    """Keep torch.compile from compiling our frames between two parts of the program; within a part
    they are traced as before. Does nothing until Dynamo is imported."""
    skip = getattr(sys.modules.get("torch._dynamo.eval_frame"), "skip_code", None)
    if skip is None:
        return
    package = f"{__package__}."
    for name, module in [*sys.modules.items()]:
        if name.startswith(package):
            for code in _codes_of(vars(module).values(), module.__name__):
                skip(code)


def never_compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, never compiled with its callees, for callbacks that C++ runs anywhere."""
    if _set_eval_frame is None:
        return function

    def call(*args: Any) -> Any:
        prior = _set_eval_frame(None)
        try:
            return function(*args)
        finally:
            _set_eval_frame(prior)

    return call


def _codes_of(values: Iterable[Any], module: str) -> Iterator[CodeType]:
    """The code objects of a module's functions and classes, nested functions included."""
    for value in [*values]:
        if isinstance(value, type) and value.__module__ == module:
            yield from _codes_of(vars(value).values(), module)
        elif isinstance(value, property):
            yield from _codes_of([value.fget], module)
        function = getattr(value, "__func__", value)  # static methods
        if isinstance(code := getattr(function, "__code__", None), CodeType):
            yield from _nested_code(code)


def _nested_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for co_const in code.co_consts:
        if isinstance(co_const, CodeType):
            yield from _nested_code(co_const)
