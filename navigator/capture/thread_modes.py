"""Manages the function mode of each of the program's threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import time_ns
from typing import TYPE_CHECKING, Any

import torch

from .follow import HiddenMode, Undo, follow_backward, follow_parameters, follow_process_groups
from .hiding.compiled_code import CompiledCode
from .mode import CallMode, put_over, put_under, take_off

if TYPE_CHECKING:
    from types import FrameType

    from .recorder import Recorder

_PATIENCE = 10.0
"""Seconds that a call of another thread waits for a window."""


class ThreadModes:
    """Enters and leaves modes, also around backward passes and compiled code."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._modes: set[CallMode] = set()
        self._here = threading.local()
        self._hidden = HiddenMode()
        self._compiled_code = CompiledCode(self._leave, self._resume)
        self.let_go()

    def let_go(self) -> None:
        """Let all calls begin: at first, and after a fork in the child, whose threads would wait
        for one that it does not have."""
        self._on_hold = False
        """Whether calls that begin wait. They first say that they have begun, then look here; who
        closes a window puts them on hold, then looks whether one has begun."""
        self._hold = threading.RLock()

    def hold(self) -> None:
        """Let no other thread begin a call: no window would see it."""
        self._hold.acquire()
        self._on_hold = True

    def release(self) -> None:
        """Let the calls that wait begin."""
        self._on_hold = False
        self._hold.release()

    @contextmanager
    def held(self) -> Iterator[None]:
        """The same for a block."""
        self.hold()
        try:
            yield
        finally:
            self.release()

    def wait(self) -> None:
        """Return when calls may begin; at once in the thread that holds the others. A finalizer or
        signal handler that runs there may need a lock of this thread: it does not wait for ever."""
        if self._on_hold and self._hold.acquire(timeout=_PATIENCE):
            self._hold.release()

    def follow(self) -> Iterator[Undo]:
        """Hook the functions that bypass function modes."""
        self._hidden.hide()
        yield self._hidden.end
        yield from self._compiled_code.follow()
        yield follow_backward(self)
        yield follow_parameters(self)
        yield from follow_process_groups(self)

    @property
    def are_busy(self) -> bool:
        """Whether a call or a ``record_function`` block is open in any thread."""
        return any(mode.busy or mode.annotations for mode in list(self._modes))

    def leave_or_enter(self) -> bool:
        """Enter or leave this thread's mode, depending on whether calls are recorded. False if an
        open call or backward pass has to end first."""
        mode, active = self._mode_here(), self._recorder.active
        if active and mode is None and self._may_enter():
            self._here.mode = self._new_mode(top=True)
            put_under(self._here.mode)
        elif not active and mode is not None and take_off(mode):
            self._forget(mode)
            self._here.mode = None
        return active == (self._mode_here() is not None)

    def _may_enter(self) -> bool:
        return torch._C._current_graph_task_id() < 0 and not self._compiled_code.inside

    def _mode_here(self) -> CallMode | None:
        """The mode of this thread, even while it is off."""
        mode: CallMode | None = getattr(self._here, "mode", None)
        return mode

    def _new_mode(self, top: bool = False) -> CallMode:
        mode = CallMode(self._recorder, threading.get_native_id(), top)
        self._modes.add(mode)
        return mode

    def _forget(self, mode: CallMode) -> None:
        self._modes.discard(mode)
        self._recorder.running.give_back(mode.slot)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record calls of the current thread while the block runs."""
        outer, mode = self._mode_here(), self._new_mode()
        self._here.mode = mode
        put_over(mode)
        try:
            yield
        finally:
            take_off(mode)
            self._forget(mode)
            self._here.mode = outer

    # ---------------------------------------------------------------- what no mode is told of

    def run_backward(self, backward: Callable[[], Any]) -> Any:
        """Run a backward pass; user code that it calls is recorded by a mode of its own."""
        outer = self._mode_here()
        if outer is None or not self._recorder.active or self._compiled_code.inside:
            return backward()
        if not outer.busy:
            return outer.run(backward, "torch.autograd", "backward")
        started = time_ns()
        try:
            with self.recording():
                return backward()
        finally:
            args = {"call": outer.busy, "start_ns": started, "duration_ns": time_ns() - started}
            self._recorder.write_backward(args, outer.thread)

    def run_unseen(self, function: Callable[[], Any], module: str, name: str) -> Any:
        """Run a function that torch hides from modes, under its public name."""
        mode = self._mode_here()
        if mode is None or mode.busy or not self._recorder.active:
            return function()
        return mode.run(function, module, name)

    # ---------------------------------------------------------------------- torch.compile

    def _leave(self, frame: FrameType) -> Undo | None:
        """Called before compiled code runs, which is recorded as one call of the frame."""
        mode, hooks = self._mode_here(), self._recorder.hooks
        if mode is None or not self._recorder.active or not take_off(mode):
            return None
        hooks.off()
        self._hidden.show()
        end = mode.begin_unseen(frame, "torch", "compile")

        def undo() -> None:
            self._hidden.hide()
            hooks.on()
            put_under(mode)
            end()

        return undo

    def _resume(self) -> Undo:
        """Called when compiled code calls other code."""
        stack, hooks = ExitStack(), self._recorder.hooks
        hooks.on()
        stack.callback(hooks.off)
        self._hidden.hide()
        stack.callback(self._hidden.show)
        stack.enter_context(self.recording())
        return stack.close
