"""Base of both recorders: the file, the thread that writes to it, start and finish."""

from __future__ import annotations

import _thread
import ctypes
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import sleep, time_ns
from typing import Any

import torch

from .compile_log import CompileLog
from .definitions import Definitions
from .follow import Undo, follow_steps
from .interrupts import interrupts_held
from .limits.options import Limits
from .modules import ModuleHooks
from .storages import Storages
from .writer import TraceFile, metadata, remove_tail

FORMAT_VERSION = 2
INTERVAL_S = 0.2
_ENDING_S, _STEP_S = 0.1, 0.0002
_CUT_SHORT = "interrupted while the recording was saved: its last operators may be missing"


class Session:
    """A recording of this process. ``start`` and ``finish`` are called in the main thread."""

    compile_texts = True
    """Whether to record the results of torch.compile, and not only when it runs."""
    hooks: ModuleHooks
    """The hooks that track the module of each thread."""

    def __init__(self, file: TraceFile, limits: Limits | None = None) -> None:
        self._pid = os.getpid()
        self._file = file
        self.limits = limits or Limits()
        self._compile_log: CompileLog | None = None
        self._announcer = Announcer(self._write_now)
        self._definitions = Definitions()
        self._storages = Storages()
        self._undo: list[Undo] = []
        """Functions that undo patches."""
        self._remove_step_hooks: list[Undo] = []
        """Functions that remove optimizer hooks, called last: hooks may be running."""
        self._started = False
        """Whether the file is still open."""
        self._reported_full = False
        self._left_out = False
        """Whether operators beyond the limit were dropped."""
        self._step = 0
        self._counted: weakref.ref[Any] | None = None
        """The optimizer or profiler that ends steps: the first to do so."""
        self.active = False
        """Whether calls are recorded: in the requested part, while the file works."""

    def note(self, problem: str) -> None:
        """Record a problem for readers of the trace."""
        self._file.write_unlimited([metadata("problem", {"message": problem}, self._pid)])

    def start(self) -> None:
        """Begin to record this process."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write what is left and stop. Does nothing the second time or in a forked child."""
        if not self._is_here():
            return
        self._started = False
        try:
            self._finish()
        except KeyboardInterrupt:  # once more: the program has ended already
            self.note(_CUT_SHORT)
            self._file.say(_CUT_SHORT)
        self._file.close()
        remove_tail(self._file.path)

    def _finish(self) -> None:
        self._announcer.stop()
        self._end()
        if self._compile_log is not None:
            self._compile_log.stop()
        for undo in self._remove_step_hooks:
            undo()
        if self._step < self.limits.first:
            self.note(self._never())
        end = metadata("end", {"calls": self._calls()}, self._pid)
        self._file.write([*self._pending(), *self._defined(last=True)])
        self._check_limits()
        self._file.write_unlimited([end])

    def pause(self) -> None:
        """Before a fork: stop whatever the child would inherit half of."""
        if self._is_here():
            self._announcer.stop()

    def resume(self) -> None:
        """After a fork, in the parent."""
        if self._is_here():
            self._announcer.start()

    def is_open(self) -> bool:
        """Whether a fork can't be recorded, since something is open that it can't end."""
        return False

    def abandon(self) -> None:
        """After a fork, in the child: drop the parent's state."""
        raise NotImplementedError

    def _defined(self, last: bool = False) -> list[bytes]:
        """Lines for the program's definitions and memory categories since the last call."""
        storages = [metadata("storages", one, self._pid) for one in self._storages.fresh()]
        try:
            found = self._definitions.fresh(last)
        except Exception as error:  # noqa: BLE001 -- an odd class of the program must not end it
            self.note(f"the program's definitions could not be read: {error!r}")
            return storages
        definitions = (
            {field: value for field, value in one._asdict().items() if value} for one in found
        )
        return [*storages, *(metadata("definition", one, self._pid) for one in definitions)]

    # ------------------------------------------------------------------------- limits

    def step_ended(self, source: Any) -> None:
        """Called when an optimizer, profiler or class of blocks has ended a step."""
        if not self._is_here():
            return
        counted = self._counted() if self._counted is not None else None
        if counted is None:
            self._counted, counted = weakref.ref(source), source
        if counted is not source:
            return
        self._step += 1
        if self._step == self.limits.first and self._undo:
            self.active = True
            self._begin_recording()
        if self._step == self.limits.last:
            self._end_soon()

    def _never(self) -> str:
        """Why nothing was recorded, if the first step to record never came."""
        if self._counted is not None:
            return f"nothing was recorded: the program ended in step {self._step}"
        by = f"no record_function block {self.limits.step} ended"
        if not self.limits.step:
            by = "no Optimizer.step or step of a profiler ended; --step-name NAME counts blocks"
        return f"nothing was recorded: no step was counted, {by}"

    def _check_limits(self) -> None:
        """End the recording if nothing more can be written, or should be."""
        file, limits = self._file, self.limits
        if self._reported_full:
            return
        if file.problem:
            self._end()
        elif file.full:
            self._full(f"{limits.size:,} bytes", f"--max-size {limits.size}")
        elif self._left_out or 0 < limits.operators <= file.rows:
            self._full(f"{limits.operators:,} operators and Nodes", f"--max-ops {limits.operators}")

    def _full(self, what: str, option: str) -> None:
        """Report that a limit is reached; the program goes on unrecorded."""
        self._reported_full = True
        text = f"recording stopped at {what}: {option}"
        self.note(f"{text}; what ran after that is not in the trace")
        self._file.say(f"{text}; the program goes on" if self._started else text)
        self._end()

    def _end(self) -> None:
        """Stop recording operators and remove all hooks."""
        if not self._undo:
            return
        self._stop()
        self.active = False
        for undo in self._undo:
            undo()
        self._undo = []

    def _end_soon(self) -> None:
        """As ``_end``, but waits for open calls."""
        self._end()

    def _begin_recording(self) -> None:
        """Start recording operators."""
        raise NotImplementedError

    @property
    def is_over(self) -> bool:
        """Whether the recording has ended for good."""
        return not self._undo

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Adds the duration of the block to the time spent writing, which nothing interrupts."""
        started = time_ns()
        try:
            with interrupts_held():
                yield
        finally:
            self._file.spent_ns += time_ns() - started

    def _is_here(self) -> bool:
        return self._started and os.getpid() == self._pid

    def _begin(self, base_ns: int, **facts: Any) -> None:
        args = {
            "format": FORMAT_VERSION,
            "torch": torch.__version__,
            "torch_git": torch.version.git_version,
            "torch_root": os.path.dirname(next(iter(torch.__path__))),
            "python": sys.version.split()[0],
            "start_ns": time_ns(),
            "base_ns": base_ns,
            "main_thread": threading.main_thread().native_id,
            "definitions": True,
        }
        self._file.write([metadata("run", args | facts, self._pid)])
        for unrecorded in self.limits.unrecorded():
            self.note(unrecorded)
        compiles = self._compiles, self.hooks.on
        self._compile_log = CompileLog(self._file, self.compile_texts, *compiles)
        self._compile_log.start()
        self._started = True
        self.active = not self.limits.first
        if self.limits.steps:
            self._remove_step_hooks = follow_steps(self.step_ended, self.limits.step)

    def _compiles(self) -> None:
        """torch.compile, or an export, starts to compile."""
        self.hooks.off()

    def _write_now(self) -> None:
        with self._writing():
            self._tick()

    def _tick(self) -> None:
        """Called a few times a second in the recorder's thread."""
        raise NotImplementedError

    def _stop(self) -> None:
        """Stop recording operators."""
        raise NotImplementedError

    def _pending(self) -> list[bytes]:
        """Events that are not written yet."""
        raise NotImplementedError

    def _calls(self) -> int:
        """Number of recorded calls."""
        return 0


def in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


class Announcer:
    """A thread that calls a function a few times a second while the program runs.

    Not a ``threading.Thread``, which would appear among the program's threads.
    """

    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick
        self._stop = _thread.allocate_lock()
        self._stopped = _thread.allocate_lock()
        self._number = 0
        """The operating system's id of the thread."""

    def start(self) -> None:
        self._stop.acquire()
        self._stopped.acquire()
        _thread.start_new_thread(self._run, ())

    def stop(self) -> None:
        """Stop the thread and wait for its end; it can be started again."""
        if self._stop.locked():
            self._stop.release()
            self._stopped.acquire()
            self._stopped.release()
            _await_end(self._number)

    def _run(self) -> None:
        self._number = _thread.get_native_id()
        try:
            while not self._stop.acquire(timeout=INTERVAL_S):
                self._tick()
        finally:
            self._stop.release()
            self._stopped.release()


def _await_end(number: int) -> None:
    """Waits until the operating system has removed a thread: from Python 3.12 on, a fork warns if
    the system counts other threads."""
    for _ in range(int(_ENDING_S / _STEP_S)):
        if not os.path.exists(f"/proc/self/task/{number}"):
            break
        sleep(_STEP_S)


def end_without_destructors() -> None:
    """In a forked child: exit as soon as Python has finished and C's streams are flushed.

    This skips destructors of libraries: those of the profiler's loader wait for threads that a
    child lacks. Only glibc has ``on_exit``, which passes the exit status on.
    """
    with suppress(AttributeError, OSError, TypeError):
        c = ctypes.CDLL(None)
        c.on_exit(c._exit, None)
        c.__cxa_atexit(c.fflush, None, None)  # the last one registered runs first
