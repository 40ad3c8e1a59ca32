"""The public name of a function that a ``TorchFunctionMode`` sees."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def function_name(function: Any) -> str:
    """``torch.Tensor.add``, ``torch.nn.functional.relu``, ``torch.ops.aten.add.Tensor``."""
    owner = getattr(function, "__self__", None)
    if getattr(function, "__name__", "") in ("__get__", "__set__", "__delete__"):
        return f"torch.Tensor.{getattr(owner, '__name__', '?')}.{function.__name__}"
    holder = getattr(function, "__objclass__", None)
    if holder is not None:
        return f"{_class_name(holder)}.{function.__name__}"
    operator = _operator_name(function)
    if operator:
        return operator
    module = owner.__name__ if isinstance(owner, ModuleType) else _module(function)
    name = str(getattr(function, "__qualname__", None) or getattr(function, "__name__", "?"))
    name = name.removeprefix("_VariableFunctionsClass.")
    return f"{module}.{name}" if module else name


def is_attribute(function: Any) -> bool:
    """Whether the call only reads or sets an attribute: ``x.shape``, ``x.grad = None``."""
    return getattr(function, "__name__", "") in ("__get__", "__set__", "__delete__")


def _class_name(holder: type) -> str:
    if holder.__name__ in ("TensorBase", "_TensorBase"):
        return "torch.Tensor"
    return f"{holder.__module__}.{holder.__qualname__}"


def _operator_name(function: Any) -> str:
    """``torch.ops.aten.add.Tensor`` for an ``OpOverload`` or its packet, else empty."""
    qualified = getattr(function, "_qualified_op_name", None)
    if qualified is None:
        name = getattr(function, "_name", None)
        qualified = name() if callable(name) else name
    if not isinstance(qualified, str) or "::" not in qualified:
        return ""
    return "torch.ops." + qualified.replace("::", ".")


def _module(function: Any) -> str:
    return str(getattr(function, "__module__", None) or "")
