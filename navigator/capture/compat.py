"""What is named differently, or is not there, in older versions of torch."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch._C import _profiler

try:
    from torch.compiler import is_compiling
except ImportError:  # before 2.2
    from torch._utils import is_compiling

try:
    from torch.optim.optimizer import register_optimizer_step_post_hook
except ImportError:  # before 2.1

    def register_optimizer_step_post_hook(hook: Any) -> Any:
        """There are none: optimizers are not watched."""
        return torch.utils.hooks.RemovableHandle({})


__all__ = [
    "Marker",
    "is_compiling",
    "profiler_config",
    "register_optimizer_step_post_hook",
    "run_as_it_is",
]

Marker: Any = getattr(_profiler, "_RecordFunctionFast", torch.autograd.profiler.record_function)
"""A context manager that shows up in a profile under its name; the slower one before 2.2."""


def profiler_config(memory: bool, experimental: Any) -> Any:
    """Shapes and no stacks, which cost more than they tell."""
    make: Any = _profiler.ProfilerConfig
    plain = (_profiler.ProfilerState.KINETO, True, memory, False, False, False, experimental)
    try:
        return make(*plain, "")
    except TypeError:  # before 2.6 a trace had no id
        return make(*plain)


def run_as_it_is(function: Any) -> None:
    """Have torch.compile not compile a function of ours when it meets its frame between two parts
    of the program; within a part it is traced as before. Does nothing before it was imported."""
    skip = getattr(sys.modules.get("torch._dynamo.eval_frame"), "skip_code", None)
    if skip is not None:
        skip(function.__code__)
