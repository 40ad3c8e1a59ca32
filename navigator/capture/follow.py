"""Where torch and Python do not ask a function mode: the engine, threads, other profilers.

Each function patches one place and returns what restores it.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import torch
import torch.autograd.profiler
import torch.profiler.profiler
from torch.autograd.variable import Variable

from .compat import is_compiling

if TYPE_CHECKING:
    from .recorder import Recorder


Undo = Callable[[], None]
"""Puts back what was replaced."""


class Giving(Protocol):
    """A recorder that steps aside for a profiler of the program."""

    def step_aside(self) -> None: ...

    def step_back(self) -> None: ...


def replace(owner: Any, name: str, value: Any) -> Undo:
    """Replace an attribute."""
    original = getattr(owner, name)
    setattr(owner, name, value)
    return functools.partial(setattr, owner, name, original)


def follow_backward(recorder: Recorder) -> Undo:
    """See every backward pass that Python starts, and the user's Python code run by it.

    The function mode is off while ``Tensor.backward`` is handled; without it no line would
    be known for a custom ``Function`` or for what checkpointing computes again.
    """

    class Engine(type(Variable._execution_engine)):  # type: ignore[misc]
        def run_backward(self, *args: Any, **kwargs: Any) -> Any:
            return recorder.run_backward(lambda: super(Engine, self).run_backward(*args, **kwargs))

    return replace(Variable, "_execution_engine", Engine())


def follow_parameters(recorder: Recorder) -> Undo:
    """See every ``nn.Parameter`` that is made."""
    original = torch.nn.Parameter.__new__

    @functools.wraps(original)
    def new(cls: type, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return original(cls, *args, **kwargs)
        return recorder.make_parameter(lambda: original(cls, *args, **kwargs))

    return replace(torch.nn.Parameter, "__new__", new)


def follow_threads(recorder: Recorder) -> list[Undo]:
    """Give every thread that the program starts a function mode of its own."""
    start = threading.Thread.start
    original = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def bootstrap(thread: threading.Thread) -> None:
        if not recorder.active:
            original(thread)
            return
        with recorder.mode_of_thread():
            original(thread)

    @functools.wraps(start)
    def begin(thread: threading.Thread) -> None:
        recorder.before_thread(sys._getframe(1))
        start(thread)

    return [
        replace(threading.Thread, "start", begin),
        replace(threading.Thread, "_bootstrap_inner", bootstrap),
    ]


def follow_profilers(recorder: Giving) -> list[Undo]:
    """Step aside while the program runs a profiler of its own, or what would see our markers."""
    patches, observing = follow_own_profilers(recorder), torch.profiler.profiler
    if hasattr(observing, "_enable_execution_trace_observer"):
        patches.append(_aside(recorder, observing, "_enable_execution_trace_observer"))
        patches.append(_back(recorder, observing, "_disable_execution_trace_observer"))
    return patches


def follow_own_profilers(recorder: Giving) -> list[Undo]:
    """Step aside while the program runs a profiler of its own: there can be only one."""
    module = torch.autograd.profiler
    starts = ("_prepare_profiler", "_enable_profiler")
    patches = [_aside(recorder, module, name) for name in starts]
    return [*patches, _back(recorder, module, "_disable_profiler")]


def _aside(recorder: Giving, owner: Any, name: str) -> Undo:
    original = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        recorder.step_aside()
        return original(*args, **kwargs)

    return replace(owner, name, call)


def _back(recorder: Giving, owner: Any, name: str) -> Undo:
    original = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if not torch._C._autograd._profiler_enabled():
            recorder.step_back()
        return result

    return replace(owner, name, call)
