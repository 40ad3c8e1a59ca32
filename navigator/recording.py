"""Recording a part of a program from inside: ``with navigator.trace() as t: ...``

This is the one place outside of ``navigator.capture`` that needs torch.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import ContextDecorator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace

if TYPE_CHECKING:
    from navigator.capture.recorder import Recorder


@dataclass(frozen=True, slots=True)
class Schedule:
    """Which steps of a long training to record; see ``Recording.step``."""

    skip: int = 0
    """Steps that run as without us."""
    warmup: int = 0
    """Steps after those that run as without us too: caches fill, kernels are compiled."""
    record: int | None = None
    """Steps to record; None for all that follow."""


class Recording(ContextDecorator):
    """Records what runs inside of the block, in this thread and those that it starts.

    With a schedule only some steps are recorded: call ``step()`` at the end of each. After
    the block ``trace`` holds what was recorded.
    """

    def __init__(
        self,
        file: Path | str | None = None,
        *,
        schedule: Schedule | None = None,
        memory: bool = False,
    ) -> None:
        self._schedule = schedule or Schedule()
        self._memory = memory
        self._kept = Path(file) if file else None
        self._folder: str | None = None
        self._recorder: Recorder | None = None
        self._step = 0
        self._trace: Trace | None = None

    @property
    def trace(self) -> Trace:
        """What was recorded.

        Raises:
            RuntimeError: The block has not ended yet.
        """
        if self._trace is None:
            raise RuntimeError("the recording has not ended yet")
        return self._trace

    def _repr_html_(self) -> str | None:
        """For notebooks; None, which shows the plain text, while it is recording."""
        return self._trace._repr_html_() if self._trace is not None else None

    def step(self) -> None:
        """Say that a step of a training has ended: by it the schedule counts."""
        self._step += 1
        begin = self._schedule.skip + self._schedule.warmup
        if self._step == begin:
            self._start()
        if self._schedule.record is not None and self._step == begin + self._schedule.record:
            self._finish()

    def __enter__(self) -> Recording:
        if not self._schedule.skip + self._schedule.warmup:
            self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._finish()
        self._trace = self._trace or Trace()

    def _start(self) -> None:
        from navigator.capture.recorder import Options, Recorder
        from navigator.capture.writer import TraceFile, metadata

        self._folder = tempfile.mkdtemp(prefix="torchnav-")
        file = TraceFile(str(self._path))
        program = {"command": ["navigator.trace()"], "cwd": os.getcwd()}
        file.write([metadata("program", program, os.getpid())])
        self._recorder = Recorder(file, Options(memory=self._memory))
        self._recorder.start()

    @property
    def _path(self) -> Path:
        return self._kept or Path(self._folder or "") / "trace.json"

    def _finish(self) -> None:
        if self._recorder is None:
            return
        self._recorder.finish()
        self._recorder.leave()
        self._recorder = None
        self._trace = read_trace(self._path)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def record(
    file: Path | str | None = None,
    *,
    skip: int = 0,
    warmup: int = 0,
    steps: int | None = None,
    memory: bool = False,
) -> Recording:
    """Record a block or, as a decorator, the calls of a function.

    Parameters:
        file: Where the recording is kept; without one it is removed when it was read.
        skip: Steps that run unrecorded at first. A step ends where ``step()`` of what this
            returns is called.
        warmup: Steps after those that run unrecorded too: caches fill, kernels are compiled.
        steps: How many steps to record; all that follow without it.
        memory: Record allocations, in bytes, too.

    Returns:
        The recording: its ``trace`` is there when the block has ended, with times in
        microseconds from its start.

    Raises:
        OSError: On entry, where the file cannot be made. What goes wrong later ends the
            recording, not the program: ``trace.meta.problems`` tells it.
    """
    return Recording(file, schedule=Schedule(skip, warmup, steps), memory=memory)
