"""Devices other than the CPU: which ones the program uses, and the call that will use the first.

The profiler records a device only if started with it, which initialises the device and would break
forks. So a device is added when the program first uses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._C._profiler import ProfilerActivity

TYPES = tuple(name.lower() for name in ProfilerActivity.__members__ if name != "CPU")
"""Prefixes of the devices that the profiler supports; AMD's are ``cuda`` too."""
_WITH_DEVICE = frozenset({*TYPES, "to"})
"""Methods with a positional device argument, or named after a device."""


def is_built_for_devices() -> bool:
    """Whether this torch supports a device; does not check that one is present."""
    return any(getattr(torch.version, name, None) for name in (*TYPES, "hip"))


def accelerator_in_use() -> bool:
    """Whether the program has initialised an accelerator."""
    return any(True for _ in _initialised())


def named_device(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The device type that a call names, ``cuda`` for ``x.to("cuda:1")``; else empty."""
    name = getattr(function, "__name__", "")
    if name in TYPES:
        return name
    values = [kwargs.get("device"), *(args[1:2] if name in _WITH_DEVICE else ())]
    types = (_type(value) for value in values if isinstance(value, (str, int, torch.device)))
    return next((one for one in types if one in TYPES), "")


def _type(device: str | int | torch.device) -> str:
    """A bare number means an accelerator: ``model.to(rank)``."""
    if isinstance(device, int):
        return next((one for one in TYPES if getattr(torch.version, one, None)), "cuda")
    return str(device).partition(":")[0]


def activities(coming: str = "") -> set[Any]:
    """The profiler's activities: CPU, devices in use, and the device about to be used."""
    used = {name.upper() for name, _ in _initialised()} | {coming.upper()}
    supported = {str(a).rpartition(".")[2]: a for a in torch.profiler.supported_activities()}
    return {ProfilerActivity.CPU} | {supported[name] for name in used if name in supported}


def has_allocated() -> bool:
    """Whether the program ever had device memory, freed memory included. True if unknown."""
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
    """Wait for devices: work in flight would be missing from the window."""
    for _, module in _initialised():
        module.synchronize()


def _initialised() -> Iterator[tuple[str, Any]]:
    """Device modules that the program has initialised; the recorder never initialises one."""
    for name in TYPES:
        module = getattr(torch, name, None)
        if module is not None and getattr(module, "is_initialized", bool)():
            yield name, module
