"""A function mode that sees the outermost torch calls of a thread, with their exact lines."""

from __future__ import annotations

import ctypes
import sys
from contextlib import nullcontext
from time import time_ns
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import (
    TorchFunctionMode,
    _get_current_function_mode_stack,
    _pop_mode,
    _push_mode,
)

from .compat import Marker, is_compiling, is_wrapped
from .kineto import MARK

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from .recorder import Recorder


_ATTRIBUTE = type(torch.Tensor.shape.__get__)


def _annotation_steps() -> dict[int, int]:
    """By id: the functions that begin (+1) and end (-1) a ``record_function`` block.

    They get no marker, which would overlap half of the block.
    """
    steps: dict[int, int] = {}
    for name, step in (
        ("_record_function_enter_new", 1),
        ("_record_function_enter", 1),
        ("_record_function_exit", -1),
    ):
        packet = getattr(torch.ops.profiler, name, None)
        if packet is not None:
            steps[id(packet)] = step
            steps |= {id(getattr(packet, overload)): step for overload in packet.overloads()}
    return steps


class CallMode(TorchFunctionMode):  # type: ignore[misc]
    """One mode per thread; torch switches it off while it handles a call."""

    def __init__(self, recorder: Recorder, thread: int, top: bool) -> None:
        super().__init__()
        self.recorder = recorder
        self.thread = thread
        self.top = top
        """Whether windows may close at the end of one of its calls."""
        self.busy = 0
        """The number of the call being handled, 0 between calls."""
        self.annotations = 0
        """Number of open ``record_function`` blocks."""
        self._steps = _annotation_steps()
        self.slot = recorder.running.take_slot(thread)

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        __tracebackhide__ = True  # pytest and others leave out a frame that has this
        if is_compiling():
            return func(*args, **(kwargs or {}))
        recorder = self.recorder
        if type(func) is _ATTRIBUTE and func in recorder.plain_attributes:
            return func(*args, **(kwargs or {}))
        step = self._steps.get(id(func))
        if step or not recorder.active:
            self.annotations = max(
                self.annotations + (step or 0), 0
            )  # one may have begun before us
            recorder.modes.wait()
            return func(*args, **(kwargs or {}))
        frame = sys._getframe(1)
        if recorder.awaits_device:
            recorder.expect_device((func, args, kwargs or {}), frame)
        stack = recorder.stacks.of(frame)
        output = None
        self.busy = number = recorder.next_number()
        recorder.modes.wait()
        start = time_ns()
        kind_number = self.slot.begin((func, stack, recorder.paths.path), start)
        try:
            with Marker(f"{MARK}{number}") if recorder.marking else nullcontext():
                result = func(*args, **(kwargs or {}))
            if type(result) is torch.Tensor:
                output = _describe(result)
                if recorder.notes_wrapped and is_wrapped(result):
                    recorder.note_wrapped()
            if isinstance(result, torch.Tensor) and not _is_plain(result):
                recorder.note_elsewhere()
            return result
        finally:
            end = time_ns()
            self.busy = 0
            self.slot.end(kind_number, number, start, end - start)
            kind = (func, stack, recorder.paths.path, output)
            recorder.add_call(number, kind, self.thread, start, end - start)
            if self.top and (end > recorder.due or number > recorder.full_at):
                recorder.at_boundary(frame, end)

    def begin_unseen(self, frame: FrameType, module: str, name: str) -> Callable[[], None]:
        """Begin a call from ``frame`` that torch hides from modes; returns how to end it."""
        recorder = self.recorder
        stack, path = recorder.stacks.of(frame), recorder.paths.path
        kind = _Unseen(None, module, name), stack, path
        self.busy = number = recorder.next_number()
        recorder.modes.wait()
        start = time_ns()
        kind_number = self.slot.begin(kind, start)
        marker = Marker(f"{MARK}{number}") if recorder.marking else nullcontext()
        marker.__enter__()

        def end() -> None:
            marker.__exit__(None, None, None)
            now = time_ns()
            self.busy = 0
            self.slot.end(kind_number, number, start, now - start)
            recorder.add_call(number, (*kind, None), self.thread, start, now - start)
            if self.top and (now > recorder.due or number > recorder.full_at):
                recorder.at_boundary(frame, now)

        return end

    def run(self, function: Any, module: str, name: str) -> Any:
        """Run a function that torch hides from modes as one call of this mode."""
        return self.__torch_function__(_Unseen(function, module, name), ())


class _Unseen:
    """A function under its public name; equal to others with that name."""

    def __init__(self, function: Any, module: str, name: str) -> None:
        self._function = function
        self.__module__ = module
        self.__name__ = self.__qualname__ = name

    def __call__(self) -> Any:
        function, self._function = self._function, None  # release what it holds
        return function()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unseen) and self.__name__ == other.__name__

    def __hash__(self) -> int:
        return hash(self.__name__)


# ----------------------------------------------------------- where a mode is not innermost


put_over = _push_mode
"""Makes a mode the innermost one of this thread."""


def put_under(mode: CallMode) -> None:
    """Make it the outermost mode of this thread, below those of the program."""
    others = _take_all()
    _push_mode(mode)
    for other in others:
        _push_mode(other)


def take_off(mode: CallMode) -> bool:
    """Remove it from this thread's modes; False if it is not there, as during a call."""
    others = _take_all()
    for other in others:
        if other is not mode:
            _push_mode(other)
    return mode in others


def _take_all() -> list[Any]:
    """Remove and return all modes of this thread, outermost first."""
    return [_pop_mode() for _ in _get_current_function_mode_stack()][::-1]


_torch_has_torch_function = torch.overrides.has_torch_function


def has_torch_function(arguments: Any) -> bool:
    """Torch's function of this name, without our mode: modules ask it whether to use a single
    operator or the longer path."""
    modes = _take_all()
    try:
        for mode in modes:
            if not isinstance(mode, CallMode):
                _push_mode(mode)
        return bool(_torch_has_torch_function(arguments))
    finally:
        _take_all()
        for mode in modes:
            _push_mode(mode)


class BetweenCalls:
    """Runs an action in the main thread between two Python instructions: within a call no mode can
    be taken off, since torch puts it back at the end. If the mode stack is just being read, nothing
    is done; call ``soon`` again."""

    def __init__(self, action: Callable[[], None]) -> None:
        looking = {f.__code__.co_filename for f in (_get_current_function_mode_stack, _take_all)}

        def act(_: Any) -> int:
            frame = sys._getframe().f_back
            if frame is None or frame.f_code.co_filename not in looking:
                action()
            return 0

        self._call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(act)

    def soon(self) -> None:
        ctypes.pythonapi.Py_AddPendingCall(self._call, None)


def _is_plain(tensor: Any) -> bool:
    """Whether it is strided, on the CPU and not of a class that may compute elsewhere."""
    plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.is_cpu
    return plain and tensor.layout is torch.strided


def _describe(tensor: Any) -> tuple[Any, Any, Any] | None:
    """None if asking would leave a trace (``torch.jit.trace``) or has no answer (nested tensors;
    symbolic sizes, which can't be hashed)."""
    if torch._C._is_tracing() or getattr(tensor, "_has_symbolic_sizes_strides", False):
        return None
    try:
        if tensor.layout is torch.strided:
            return tensor.dtype, tensor.shape, tensor.device
        layout = str(tensor.layout).removeprefix("torch.")
        return tensor.dtype, tensor.shape, f"{tensor.device}/{layout}"
    except RuntimeError:
        return None
