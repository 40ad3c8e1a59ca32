"""Devices other than the CPU: which the program uses, and the call that is about to use the first.

The profiler sees a device's work only if it was told of the device when it was started, and telling
it initialises the device: a program's forks would break. So it is told when the program uses one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._C._profiler import ProfilerActivity

TYPES = tuple(name.lower() for name in ProfilerActivity.__members__ if name != "CPU")
"""What device strings begin with, of devices that the profiler knows; AMD's are ``cuda`` too."""
_WITH_DEVICE = frozenset({*TYPES, "to"})
"""Methods whose arguments by position name a device, or that are one's name."""


def is_built_for_devices() -> bool:
    """Whether this torch could use one; whether there is one is not asked."""
    return any(getattr(torch.version, name, None) for name in (*TYPES, "hip"))


def accelerator_in_use() -> bool:
    """Whether the program has initialised one."""
    return any(True for _ in _initialised())


def named_device(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The type of the device that a call names, as ``cuda`` for ``x.to("cuda:1")``; else empty."""
    name = getattr(function, "__name__", "")
    if name in TYPES:
        return name
    given = [kwargs.get("device"), *(args[1:2] if name in _WITH_DEVICE else ())]
    types = (_type(one) for one in given if isinstance(one, (str, int, torch.device)))
    return next((one for one in types if one in TYPES), "")


def _type(device: str | int | torch.device) -> str:
    """A number alone is that of an accelerator: ``model.to(rank)``."""
    if isinstance(device, int):
        return next((one for one in TYPES if getattr(torch.version, one, None)), "cuda")
    return str(device).partition(":")[0]


def activities(coming: str = "") -> set[Any]:
    """What the profiler is told of: the CPU, devices in use, and the one that is ``coming``."""
    used = {name.upper() for name, _ in _initialised()} | {coming.upper()}
    supported = {str(a).rpartition(".")[2]: a for a in torch.profiler.supported_activities()}
    return {ProfilerActivity.CPU} | {supported[name] for name in used if name in supported}


def has_allocated() -> bool:
    """Whether the program has had memory on one: also what it has freed. True where none tells."""
    return any(
        _stats(module, number).get("allocation.all.allocated", 1)
        for _, module in _initialised()
        for number in range(module.device_count())
    )


def _stats(module: Any, number: int) -> Mapping[str, int]:
    try:
        return dict(module.memory_stats(number))
    except (AttributeError, RuntimeError):
        return {}


def synchronize() -> None:
    """Device work in flight would be missing from the window."""
    for _, module in _initialised():
        module.synchronize()


def _initialised() -> Iterator[tuple[str, Any]]:
    """Device modules that the program itself has initialised: we never do."""
    for name in TYPES:
        module = getattr(torch, name, None)
        if module is not None and getattr(module, "is_initialized", bool)():
            yield name, module
