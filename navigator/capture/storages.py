"""What memory is used for, as far as Python knows: parameters, gradients, optimizer state, inputs.

Records the addresses of module inputs and optimizer state at the moments at which
``torch.profiler`` does; the trace has the allocations at these addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from time import time_ns
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from .compat import is_compiling, register_optimizer_step_post_hook

_is_lazy_copy: Callable[[Any], bool] = getattr(torch._C, "_is_cow_tensor", lambda _: False)
"""Whether reading its address would copy it."""

Entry = dict[str, Any]
"""``time_ns``, and addresses by category."""


class Storages:
    """Collects addresses by category."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._known: dict[int, tuple[int, ...]] = {}
        """By id of a module: the last addresses of its parameters."""

    def follow(self) -> list[Callable[[], None]]:
        """Hook modules and optimizers; returns a function that unhooks them."""
        module = register_module_forward_pre_hook(self._module)
        return [module.remove, register_optimizer_step_post_hook(self._optimizer).remove]

    def fresh(self) -> list[Entry]:
        """The entries since the last call."""
        lines, self._entries = self._entries, []
        return lines

    def _module(self, module: Any, inputs: Any) -> None:
        if is_compiling():
            return
        with torch._C.DisableTorchFunction():
            parameters = tuple(_addresses(module._parameters.values()))
            if self._known.get(id(module)) == parameters:
                parameters = ()
            else:
                self._known[id(module)] = parameters
            self._record_change(parameter=parameters, input=tuple(_addresses(inputs)))

    def _optimizer(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if is_compiling():
            return
        with torch._C.DisableTorchFunction():
            held = [one for group in optimizer.param_groups for one in group["params"]]
            states = (optimizer.state.get(one) or {} for one in held)
            found = {
                "parameter": _addresses(held),
                "gradient": _addresses(one.grad for one in held),
                "optimizer state": _addresses(chain.from_iterable(map(_values, states))),
            }
            self._record_change(**{category: tuple(found[category]) for category in found})

    def _record_change(self, **found: tuple[int, ...]) -> None:
        if any(found.values()):
            self._entries.append({"time_ns": time_ns(), **{k: v for k, v in found.items() if v}})


def _values(state: Any) -> Iterable[Any]:
    return tuple(state.values()) if isinstance(state, dict) else ()


def _addresses(values: Iterable[Any]) -> Iterator[int]:
    """Addresses of tensors' memory; other values, and tensors without one, are skipped."""
    for value in values:
        for tensor in _plain(value):
            with suppress(RuntimeError, NotImplementedError):
                if not _is_lazy_copy(tensor) and (address := tensor.untyped_storage().data_ptr()):
                    yield address


def _plain(value: Any) -> Iterator[Any]:
    """The tensor, or those inside a wrapper such as a DTensor."""
    if not isinstance(value, torch.Tensor):
        return
    if type(value) in (torch.Tensor, torch.nn.Parameter):
        yield value
    elif hasattr(type(value), "__tensor_flatten__"):
        names, _ = value.__tensor_flatten__()
        for name in names:
            yield from _plain(getattr(value, name))
