"""Records with the compiled recorder: without function modes, the profiler and windows.

It records what the profiler does, on every thread, with the Python stack of each operator called
from Python and the dispatch keys of the call.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from time import time_ns
from types import FrameType, ModuleType
from typing import Any

import torch

from .build import NAME
from .compat import never_compiled
from .follow import Undo, follow_own_profilers
from .frames import Stacks, absolute
from .hiding.compiled_code import CompiledCode
from .limits.options import Limits
from .modules import ModuleHooks, ModulePaths, torch_folder
from .session import Session
from .writer import TraceFile, metadata, open_tail


def load(path: str) -> ModuleType | None:
    """The library at this path; None if it cannot be loaded."""
    spec = importlib.util.spec_from_file_location(NAME, path)
    if spec is None or spec.loader is None:
        return None
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError:
        return None
    return module


class _Paths(ModulePaths):
    """Tells the recorder the module that a thread is in."""

    def __init__(self, native: Any, limits: Limits) -> None:
        super().__init__()
        self._native = native
        self._limits = limits

    def enter(self, module: Any) -> None:
        super().enter(module)
        self._native.set_module(self.path, self._limits.matches(self.path))

    def leave(self, module: Any) -> None:
        super().leave(module)
        self._native.set_module(self.path, self._limits.matches(self.path))


class CompiledRecorder(Session):
    """Records with the library; same interface as ``Recorder``."""

    def __init__(
        self, file: TraceFile, native: Any, limits: Limits | None = None, memory: bool = False
    ) -> None:
        super().__init__(file, limits)
        self._native = native
        self._memory = memory
        """Whether allocations are recorded too."""
        self._stepped_aside = False
        self._stacks = Stacks(torch_folder())
        self.hooks = ModuleHooks(_Paths(native, self.limits))
        self._windows = 0
        self._base_ns = 0
        self._lock = threading.Lock()

    def start(self) -> None:
        base_ns = time_ns()
        self._begin(base_ns, overloads=True, recorder="compiled", lacks=[])
        self._base_ns = base_ns
        self.hooks.on()
        code = CompiledCode(self._leave_hooks, self._resume)
        self._undo += [self.hooks.end, *code.follow(), *self._definitions.follow()]
        if self._memory:
            self._undo += follow_own_profilers(self)
            self._remove_step_hooks += self._storages.follow()
        if self.active:
            self._begin_recording()
        self._announcer.start()

    def _leave_hooks(self, _frame: FrameType) -> Undo:
        self.hooks.off()
        return self.hooks.on

    def _resume(self) -> Undo:
        self.hooks.on()
        return self.hooks.off

    def _begin_recording(self) -> None:
        tail = open_tail(self._file.path, self._native.TAIL_SIZE)
        limits = self.limits.operators, bool(self.limits.only)
        describe = never_compiled(self._stacks.classify), never_compiled(self._stack)
        memory = self._native.start(self._base_ns, *describe, self._memory, tail, *limits)
        if self._memory and not memory:
            self.note(
                "memory is not recorded: the parent had threads that ran operators when it "
                "forked, and the allocator may wait for them forever"
            )
        if tail >= 0:
            os.close(tail)

    def pause(self) -> None:
        super().pause()
        if self._is_here():
            self._tick()

    def abandon(self) -> None:
        self._native.leave_tail()
        if self.active:
            self.active = False
            self._native.stop()

    def step_aside(self) -> None:
        """Called before the program starts a profiler in this thread: memory reports have one
        receiver per thread, and the profiler needs it."""
        self._native.step_aside()
        if not self._stepped_aside:
            self.note(
                "allocators reported only to the profiler that the program ran itself: "
                "memory that was allocated or freed meanwhile is missing"
            )
        self._stepped_aside = True

    def step_back(self, _result: Any) -> None:
        """Called when the program's profiler has ended."""
        self._native.step_back()

    def _tick(self) -> None:
        self._file.write([*self._events(), *self._defined()])
        if self.active:
            self._check_limits()

    def _stop(self) -> None:
        self._native.stop()

    def _pending(self) -> list[bytes]:
        if torch.cuda.is_initialized():
            self.note(
                "the program used CUDA: the compiled recorder sees no device kernels, the "
                "other one does"
            )
        return self._events(last=True)

    def _events(self, last: bool = False) -> list[bytes]:
        with self._lock:
            stacks, lines, _, whole = self._native.take()
            events: list[bytes] = stacks
            if lines:
                events.append(lines[:-2])
            if lines and (whole or last):
                self._windows += 1
                events.append(metadata("window", {"window": self._windows}, self._pid))
            return events

    def _stack(self, number: int, frames: list[tuple[str, int, str]]) -> bytes:
        """The event for a stack, innermost frame first, in the thread that met it first."""
        kinds = [self._stacks.classify(path) for path, _, _ in frames]
        args = {
            "stack": number,
            "user": self._stacks.user_index(kinds),
            "frames": [[absolute(path), line, name] for path, line, name in frames],
        }
        return metadata("stack", args, self._pid)
