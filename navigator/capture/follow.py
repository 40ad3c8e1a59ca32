"""Hooks for what no function mode sees: the autograd engine, threads, other profilers.

Each function patches one place and returns what restores it.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import torch
import torch.autograd.profiler
import torch.overrides
import torch.profiler.profiler
from torch.autograd.variable import Variable

from .compat import is_compiling
from .mode import has_torch_function

if TYPE_CHECKING:
    from .recorder import Recorder
    from .thread_modes import ThreadModes


_OPTIMIZERS = importlib.import_module("torch.optim.optimizer")
"""``torch.optim`` deletes this submodule from its namespace."""

Undo = Callable[[], None]
"""Restores what was replaced."""


class ProfilerGuard(Protocol):
    """A recorder that steps aside while the program runs a profiler."""

    def step_aside(self) -> None: ...

    def step_back(self, result: Any) -> None: ...


def replace(owner: Any, name: str, value: Any) -> Undo:
    """Replace an attribute; restoring leaves it alone if the program has replaced it since."""
    original = getattr(owner, name)
    setattr(owner, name, value)
    ours = getattr(owner, name)

    def undo() -> None:
        if getattr(owner, name) == ours:
            setattr(owner, name, original)

    return undo


def follow_steps(ended: Callable[[Any], None], block: str = "") -> list[Undo]:
    """Call ``ended`` with whatever ends a step: an optimizer, a profiler's ``step`` or, with
    ``block``, a ``record_function`` block of that name, numbered (``NAME#7``) or not."""
    if block:
        return [_follow_blocks(ended, block)]
    undo = [_follow_profiled_steps(ended)]
    register = getattr(_OPTIMIZERS, "register_optimizer_step_post_hook", None)
    if register is not None:  # since 2.0
        hook = register(lambda optimizer, *_: None if is_compiling() else ended(optimizer))
        undo.append(hook.remove)
    return undo


def _follow_blocks(ended: Callable[[Any], None], block: str) -> Undo:
    owner = torch.autograd.profiler.record_function
    original = owner.__exit__

    @functools.wraps(original)
    def leave(self: Any, *error: Any) -> Any:
        result = original(self, *error)
        if not is_compiling() and self.name.partition("#")[0] == block:
            ended(owner)
        return result

    return replace(owner, "__exit__", leave)


def _follow_profiled_steps(ended: Callable[[Any], None]) -> Undo:
    owner = torch.profiler.profile
    original = owner.step

    @functools.wraps(original)
    def step(self: Any) -> None:
        original(self)
        ended(self)

    return replace(owner, "step", step)


def follow_backward(modes: ThreadModes) -> Undo:
    """See every backward pass that Python starts, and the user's Python code run by it.

    The function mode is off while ``Tensor.backward`` runs; without this hook, custom ``Function``s
    and recomputation by checkpointing would have no line.
    """

    class Engine(type(Variable._execution_engine)):  # type: ignore[misc]
        def run_backward(self, *args: Any, **kwargs: Any) -> Any:
            return modes.run_backward(lambda: super(Engine, self).run_backward(*args, **kwargs))

    return replace(Variable, "_execution_engine", Engine())


class HiddenMode:
    """Keeps our mode out of ``has_torch_function`` checks, by which modules choose a single fused
    operator. Dynamo has to find torch's own function there, TorchScript knows this one."""

    def __init__(self) -> None:
        builtins = importlib.import_module("torch.jit._builtins")
        builtins._register_builtin(has_torch_function, "aten::has_torch_function")
        self._original = torch.overrides.has_torch_function
        self._shown = 1
        self._ended = False

    def hide(self) -> None:
        """Hide our mode, once every ``show`` request has ended."""
        self._shown -= 1
        if not self._shown and not self._ended:
            torch.overrides.has_torch_function = has_torch_function

    def show(self) -> None:
        """Let torch answer."""
        self._shown += 1
        torch.overrides.has_torch_function = self._original

    def end(self) -> None:
        """Let torch answer from now on."""
        self._ended = True
        self.show()


def follow_parameters(modes: ThreadModes) -> Undo:
    """Record the construction of every ``nn.Parameter``."""
    original = torch.nn.Parameter.__new__

    @functools.wraps(original)
    def new(cls: type, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return original(cls, *args, **kwargs)
        return modes.run_unseen(lambda: original(cls, *args, **kwargs), "torch.nn", "Parameter")

    return replace(torch.nn.Parameter, "__new__", new)


def follow_process_groups(modes: ThreadModes) -> Iterator[Undo]:
    """Record calls of C++ process groups and of DDP's reducer, which bypass function modes:
    collectives begun by ``barrier`` or DDP's constructor would have no line."""
    module = getattr(torch._C, "_distributed_c10d", None)
    if module is None:
        return
    group, reducer, public = module.ProcessGroup, module.Reducer, torch.distributed
    for name, value in [*vars(group).items()]:
        if _returns_work(value):
            yield _followed(modes, group, name, f"{public.__name__}.{group.__name__}")
    for name, value in [*vars(public).items()]:
        if value is vars(module).get(name) and f"{name}(process_group: " in str(value.__doc__):
            yield _followed(modes, public, name, public.__name__)
    for name, value in [*vars(reducer).items()]:
        if callable(value) and f"{name}(self: " in str(value.__doc__):
            yield _followed(modes, reducer, name, f"{public.__name__}.{reducer.__name__}")


def _returns_work(function: Any) -> bool:
    """According to the signatures in the docstrings of the C++ bindings."""
    lines = str(function.__doc__).splitlines() if callable(function) else []
    return any(" -> " in line and line.endswith(("::Work", ".Work")) for line in lines)


def _followed(modes: ThreadModes, owner: Any, name: str, known_as: str) -> Undo:
    original = vars(owner)[name]  # the descriptor, not the bound method
    call = getattr(owner, name)

    @functools.wraps(call)
    def followed(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return call(*args, **kwargs)
        return modes.run_unseen(lambda: call(*args, **kwargs), known_as, name)

    setattr(owner, name, followed)
    return functools.partial(setattr, owner, name, original)


def follow_threads(recorder: Recorder) -> list[Undo]:
    """Give every thread that the program starts a function mode of its own."""
    start = threading.Thread.start
    original = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def bootstrap(thread: threading.Thread) -> None:
        if recorder.is_over:
            original(thread)
            return
        with recorder.modes.recording():
            original(thread)

    @functools.wraps(start)
    def begin(thread: threading.Thread) -> None:
        recorder.before_thread(sys._getframe(1))
        start(thread)

    return [
        replace(threading.Thread, "start", begin),
        replace(threading.Thread, "_bootstrap_inner", bootstrap),
    ]


def follow_profilers(recorder: ProfilerGuard) -> list[Undo]:
    """Step aside while the program runs a profiler, or a tool that would see our markers."""
    patches, observing = follow_own_profilers(recorder), torch.profiler.profiler
    if hasattr(observing, "_enable_execution_trace_observer"):
        patches.append(_before_profiler(recorder, observing, "_enable_execution_trace_observer"))
        patches.append(_after_profiler(recorder, observing, "_disable_execution_trace_observer"))
    return patches


def follow_own_profilers(recorder: ProfilerGuard) -> list[Undo]:
    """Step aside while the program runs a profiler: there can be only one."""
    module = torch.autograd.profiler
    starts = ("_prepare_profiler", "_enable_profiler")
    patches = [_before_profiler(recorder, module, name) for name in starts]
    return [*patches, _after_profiler(recorder, module, "_disable_profiler")]


def _before_profiler(recorder: ProfilerGuard, owner: Any, name: str) -> Undo:
    original = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        recorder.step_aside()
        return original(*args, **kwargs)

    return replace(owner, name, call)


def _after_profiler(recorder: ProfilerGuard, owner: Any, name: str) -> Undo:
    original = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if not torch._C._autograd._profiler_enabled():
            recorder.step_back(result)
        return result

    return replace(owner, name, call)
