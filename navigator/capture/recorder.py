"""Records with ``torch.profiler``, for operators, and a function mode, for calls.

A window is one run of ``torch.profiler``. It closes only between two outermost calls of the main
thread, while no operator is open in any thread: if the profiler is restarted meanwhile, torch
writes the end of an open operator into freed memory.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import threading
from time import time_ns
from types import FrameType
from typing import Any

import torch

from .calls import CallLog
from .devices import accelerator_in_use, has_allocated, is_built_for_devices, named_device
from .follow import follow_profilers, follow_threads
from .frames import Stacks
from .interrupts import interrupts_held
from .limits.options import Limits
from .limits.window import Part
from .mode import BetweenCalls
from .modules import ModuleHooks, ModulePaths, torch_folder
from .profiler import Profiler, places_in
from .rows.event_columns import Seen
from .rows.windows import NO_WINDOW, Closed, Windows
from .running import RunningCalls
from .session import Session, end_without_destructors, in_main_thread
from .thread_modes import ThreadModes
from .writer import TraceFile, metadata

_NEVER = sys.maxsize
_RETRY_NS = 2_000_000
"""Seconds to wait after a boundary at which the window could not close."""
_CALLS_IN_WINDOW = 1_000
"""Calls after which a window should close: the profiler gets slower with memory."""
_CALLS_IN_FIRST = 400
"""The same for the first window, which is written with its costly tree of events."""
_CALLS_AT_MOST = 400_000
"""Calls after which a window that never could close is closed for good."""


class Recorder(Session):
    """Records with ``torch.profiler`` and a function mode."""

    def __init__(
        self,
        file: TraceFile,
        limits: Limits | None = None,
        *,
        window_s: float = 1.0,
        window_calls: int = _CALLS_IN_WINDOW,
        memory: bool = False,
    ) -> None:
        """A window closes at the next boundary after so many seconds and, unless that is 0, so many
        calls; ``memory`` records allocations."""
        super().__init__(file, limits)
        self._window_ns = int(window_s * 1e9)
        self._window_calls = window_calls
        self._memory = memory
        self._log = CallLog(self._pid)
        self._windows = Windows(file, self._log, self._defined)
        self.running = RunningCalls(self._pid)
        self._profiler = Profiler(memory)
        self._all_threads = threading.active_count() > 1 and not memory
        """Whether windows record every thread; a single thread needs no option."""
        self._last_window = False
        self._paused = self._stopped = False
        """Whether a window was closed for a fork; whether there will be no more windows."""
        self._told_compiled = False
        self._aside_ns = 0
        """Start of the program's own profiler; 0 without one."""
        self._opened_ns = 0
        self._accelerator = False
        """Whether the open window records devices."""
        self.awaits_device = False
        """Whether the open window does not, but the program may start to use one."""
        self.modes = ThreadModes(self)
        self._waits = False
        """Whether the main thread's mode should change as soon as possible."""
        self._between_calls = BetweenCalls(self._put_or_take)
        self._base_ns = 0
        self.elsewhere = memory
        """Whether tensors may be off the CPU or not strided, which only a tree shows."""
        self.notes_wrapped = memory
        self._tree = True
        """Whether the open window has a tree."""
        self._cut_ns = _NEVER
        """Time after which nothing is recorded."""
        self.stacks = Stacks(torch_folder())
        self.paths = ModulePaths()
        self.hooks = ModuleHooks(self.paths)
        self.marking = False
        """Whether a window is open, so that calls are marked in it."""
        self.due = _NEVER
        """Time in ns after which the window may close."""
        self.full_at = _NEVER
        """Number of the call after which it may close."""
        self.next_number = itertools.count(1).__next__
        self.add_call = self._log.add
        self.plain_attributes: frozenset[Any] = frozenset()
        """Reads and writes of tensor attributes that run no operator, and are not recorded."""

    # -------------------------------------------------------------------- start and stop

    def start(self) -> None:
        """Begin to record this thread and those that it will start."""
        try:
            self.plain_attributes, base_ns = self._profiler.plain_attributes()
        except OSError as error:
            self._file.fail(error)
            self._file.close()
            return
        overloads = "capture_overload_names" in self._profiler.options
        self._base_ns = self._log.base_ns = base_ns
        lacks = list(self._profiler.missing_options)
        self._begin(base_ns, overloads=overloads, lacks=lacks)
        self.running.open(self._file.path, base_ns)
        self.hooks.on()
        self._undo = [self.hooks.end, *self.modes.follow()]
        self._undo += [*follow_threads(self), *follow_profilers(self), *self._definitions.follow()]
        if self._memory:
            self._remove_step_hooks += self._storages.follow()
        self._announcer.start()
        if self.active:
            self._begin_recording()

    def _begin_recording(self) -> None:
        if torch._C._autograd._profiler_enabled():
            self._aside_ns = time_ns()
        elif torch._C._current_graph_task_id() < 0:  # else it would only see this backward pass
            self._open_window()
        if not self.modes.leave_or_enter():
            self.note("a step began within a backward pass: its first operators are missing")
        self._waits = not in_main_thread() or not self.modes.leave_or_enter()

    def _put_or_take(self) -> None:
        self._waits = not self.modes.leave_or_enter()
        if self.active and not self._waits and not self.marking:
            self.due = 0

    def _end(self) -> None:
        super()._end()
        self._waits = not self.modes.leave_or_enter() or not in_main_thread()

    def _end_soon(self) -> None:
        self._cut_ns = time_ns()
        self.due = 0
        if not self.marking:
            self._end()

    def pause(self) -> None:
        super().pause()
        if self._is_here() and in_main_thread():
            self.modes.hold()
            self._paused = self.marking and self._can_close(None)
            if self._paused:
                self._close_window()
            else:
                self.modes.release()

    def is_open(self) -> bool:
        return self.marking

    def resume(self) -> None:
        super().resume()
        if self._paused:  # else the next call would be outside of windows
            self._paused = False
            self._open_window()
            self.modes.release()

    def abandon(self) -> None:
        self.running.leave()
        self.modes.let_go()
        self.active = False
        if self.marking:
            self.marking = False
            torch.autograd._enable_record_function(False)
        end_without_destructors()

    def _compiles(self) -> None:
        super()._compiles()
        if not self._told_compiled:
            self._told_compiled = True
            self.note_elsewhere()  # fake tensors have no device
            self.note(
                "compiled code ran as it does untraced: operators between its graphs have the line "
                "that called it; --compiled records their own lines"
            )

    def _tick(self) -> None:
        self._windows.write_waiting()
        self._file.write(self._log.announce())
        if self._file.problem or (accelerator_in_use() and not self._accelerator):
            self.due = min(self.due, time_ns())
        if self._waits:
            self._between_calls.soon()

    def _stop(self) -> None:
        self.running.stop()
        self._close_window()
        self._write_aside(None)

    def _pending(self) -> list[bytes]:
        self._windows.write_waiting()
        return self._log.announce()

    def _calls(self) -> int:
        return self.next_number() - 1

    # --------------------------------------------------------------------------- threads

    def before_thread(self, frame: FrameType | None) -> None:
        """The program is about to start a thread: record every thread from now on."""
        if self._all_threads or self._last_window or self._memory:
            return
        self._all_threads = True
        if not self.marking:
            return
        if not (in_main_thread() and self._restart(frame)):
            self.due = time_ns()
            self.note(
                "a thread was started where the profiler could not be restarted: its first "
                "operators are missing"
            )

    def write_backward(self, args: dict[str, int], thread: int) -> None:
        """Called when a backward pass within a call has ended."""
        self._file.write([metadata("backward", args, self._pid, thread)])

    # --------------------------------------------------------------------------- windows

    @interrupts_held()
    def at_boundary(self, frame: FrameType | None, now: int) -> None:
        """Called after an outermost call of the main thread if the window should close."""
        self.due, self.full_at = now + _RETRY_NS, _NEVER
        if not self.marking:
            if not torch._C._autograd._profiler_enabled():  # else it would end the program's own
                self._open_window()
        elif not self._restart(frame) and len(self._log) > _CALLS_AT_MOST:
            self.note(
                "there was no safe moment to restart the profiler: from here on only "
                "the outermost calls are recorded"
            )
            self._close_window()
            self._stopped = True
            self.due = _NEVER

    @interrupts_held()
    def step_aside(self) -> None:
        """Called before the program starts a profiler."""
        with self.modes.held():
            if self.marking:
                self._close_window()
                self._aside_ns = time_ns()
        self.due = self.full_at = _NEVER

    @interrupts_held()
    def step_back(self, result: Any) -> None:
        """Called when the program's profiler has ended. Operators still open in it do not affect
        our windows, which are of the other kind."""
        with self.modes.held():
            self._write_aside(result)
            if self.active and not self.marking and not self._stopped:
                if in_main_thread():
                    self._open_window()
                else:
                    self.due = time_ns()

    def _write_aside(self, result: Any) -> None:
        """Write what ran while the program used a profiler, from its result."""
        since, self._aside_ns = self._aside_ns, 0
        if not since:
            return
        with self._writing():
            self._windows.write_aside(self._seen(result, since), since, self.limits)
        self._check_limits()

    def _seen(self, result: Any, since: int) -> Seen | None:
        """None if only a part is to be recorded, or if devices may have worked."""
        if not hasattr(result, "events") or self._part() or accelerator_in_use():
            return None
        return Seen(result, since, places_in(result) if self.elsewhere else None)

    @interrupts_held()
    def _restart(self, frame: FrameType | None, device: str = "") -> bool:
        """Close the window and open another; False where that is not safe, seen from ``frame``."""
        with self.modes.held():
            if not self._can_close(frame):
                return False
            self._close_window()
            self._open_window(device)
            return True

    def _can_close(self, frame: FrameType | None) -> bool:
        """Whether no operator can be open in the profiler, judging from ``frame``."""
        if self._last_window or self.modes.are_busy:
            return False
        return not self.stacks.has_foreign(frame)

    def expect_device(self, call: tuple[Any, Any, Any], frame: FrameType) -> None:
        """Called before a call: the profiler has to know a device before its first use."""
        device = named_device(*call)
        if self.marking and in_main_thread() and (device or accelerator_in_use()):
            self._restart(frame, device)

    def _note_device(self) -> None:
        """Report a device that the profiler was not started with."""
        self.awaits_device = False
        self.due = 0
        self.note(
            "a device was used before the profiler could be started for it: its first work is "
            "missing"
        )

    @interrupts_held()
    def _open_window(self, device: str = "") -> None:
        if self._cut_ns != _NEVER:
            self._end()
        if not self.active:
            return
        if len(self._log):
            with self._writing():
                self._windows.write_aside(None, time_ns(), self.limits, NO_WINDOW)
        self._accelerator = bool(device) or accelerator_in_use()
        self.awaits_device = not self._accelerator and is_built_for_devices()
        self._tree = self._needs_tree()
        self._profiler.start(self._all_threads, self._tree, device)
        self._opened_ns = time_ns()
        self.due = self._opened_ns + self._window_ns
        if self._window_calls:
            self.full_at = self.next_number() + self._calls_in_window()
        self.marking = True

    @interrupts_held()
    def _close_window(self) -> None:
        """Stop the profiler and write its events."""
        if not self.marking:
            return
        with self._writing():
            self.marking = False
            if self.awaits_device and accelerator_in_use() and has_allocated():
                self._note_device()  # used outside of calls, as by torch.load
            closed_ns = time_ns()
            try:
                self._close_with_tree(closed_ns) if self._tree else self._close_without(closed_ns)
            except OSError as error:
                self._file.fail(error)
        self._check_limits()

    def note_elsewhere(self) -> None:
        """An operator made a tensor that is not strided or not on the CPU: record the next
        operators in a window with a tree."""
        if not self.elsewhere and not self._tree:
            self.due = 0
        self.elsewhere = True
        if self.awaits_device and accelerator_in_use():
            self._note_device()

    def note_wrapped(self) -> None:
        """Called when ``torch.func`` has wrapped a tensor while memory is recorded."""
        self.notes_wrapped = False
        self.note(
            "torch.profiler, which sees shapes, keeps the tensors that torch.func wraps until a "
            "window closes: the program needs less memory than this; --compiled keeps none"
        )

    def _needs_tree(self) -> bool:
        """True for the first window, if only a part is recorded, and if operators of several
        threads may be running at its end."""
        limits = self.limits
        part = limits.only or limits.operators or limits.size
        off_cpu = self.elsewhere or self._log.elsewhere or self._accelerator
        return bool(not self._windows.count or part or off_cpu or self._all_threads)

    def _close_with_tree(self, closed_ns: int) -> None:
        window = self._profiler.stop(tempfile.gettempdir())
        self._windows.write_waiting()
        self.elsewhere = self.elsewhere or bool(window.places)
        if window.unfinished:
            self.note(
                f"{window.unfinished} operators were running when a window closed; their later "
                "calls are not below them"
            )
            # Windows now change kind: a third one might touch these operators.
            self._all_threads = not self._all_threads
            self._last_window = True
        part = self._part()
        self._windows.write_tree(window, self._opened_ns, closed_ns, part)
        self._left_out = part is not None and part.left_out

    def _close_without(self, closed_ns: int) -> None:
        path = self._profiler.save(tempfile.gettempdir())
        times = self._opened_ns, min(closed_ns, self._cut_ns), closed_ns
        self._windows.add(Closed(path, self._log.take(), *times))

    def _calls_in_window(self) -> int:
        """Calls to wait for: at most the operators left, since each call runs at least one."""
        calls = self._window_calls
        if not self._windows.count:
            calls = min(calls, _CALLS_IN_FIRST)
        left = self.limits.operators - self._file.rows
        return min(calls, max(left, 1)) if self.limits.operators else calls

    def _part(self) -> Part | None:
        """Which part of this window to write; None for all of it."""
        limits = self.limits
        if not (limits.only or limits.operators or self._cut_ns != _NEVER):
            return None
        until = (self._cut_ns - self._base_ns) / 1000
        left = limits.operators - self._file.rows if limits.operators else _NEVER
        return Part(until, left, limits)
