"""Records a part of a program from inside: ``with navigator.trace() as t: ...``

Outside of ``navigator.capture``, only this module needs torch.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from argparse import Namespace
from contextlib import ContextDecorator
from pathlib import Path
from typing import TYPE_CHECKING

from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace

if TYPE_CHECKING:
    from navigator.capture.session import Session


class Recording(ContextDecorator):
    """Records a block or, as a decorator, the calls of a function.

    This thread and the threads that it starts are recorded. ``skip``, ``warmup`` and ``steps``
    restrict the recording to some training steps: call ``step()`` at the end of each.

    Parameters:
        file: The file to keep; by default a temporary one. ``%r`` or ``{rank}`` and ``{pid}`` are
            filled in; under ``torchrun`` the rank is appended.
        skip: Steps to skip at first.
        warmup: Steps to skip after these, while caches fill and kernels are compiled.
        steps: Number of steps to record; by default all.
        memory: Record allocations, in bytes, too.
        compiled: Use the compiled recorder if ``torchnav trace`` has built it and would use it. It
            costs a fifth, records all threads of the process, and has no rows for calls.

    Raises:
        OSError: On entry, if the file cannot be created. Later errors end the recording, not the
            program; they are in ``trace.meta.problems``.
    """

    def __init__(
        self,
        file: Path | str | None = None,
        *,
        skip: int = 0,
        warmup: int = 0,
        steps: int | None = None,
        memory: bool = False,
        compiled: bool = True,
    ) -> None:
        self._first = skip + warmup
        self._last = None if steps is None else self._first + steps
        self._memory = memory
        self._compiled = compiled
        self._file = Path(file) if file else None
        self._written = Path()
        self._folder: str | None = None
        self._recorder: Session | None = None
        self._step = 0
        self._trace: Trace | None = None

    @property
    def trace(self) -> Trace:
        """The recorded trace; times in microseconds from its start.

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
        """Mark the end of a training step, for the schedule."""
        self._step += 1
        if self._step == self._first:
            self._start()
        if self._step == self._last:
            self._finish()

    def __enter__(self) -> Recording:
        if not self._first:
            self._start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._finish()
        self._trace = self._trace or Trace()

    def _start(self) -> None:
        from indexes.source.source import cache_folder
        from navigator.capture.limits.options import Limits
        from navigator.capture.names import expand, rank_of
        from navigator.capture.program import recorder_for
        from navigator.capture.writer import TraceFile, metadata

        self._folder = tempfile.mkdtemp(prefix="torchnav-")
        file = TraceFile(expand(str(self._path), rank_of(), os.getpid()))
        self._written = Path(file.path)
        program = {"command": ["navigator.trace()"], "cwd": os.getcwd()}
        file.write([metadata("program", program, os.getpid())])
        options = Namespace(
            native=None,
            build=False,
            native_folder=str(cache_folder() / "native") if self._compiled else None,
            memory=self._memory,
            window=1.0,
        )
        self._recorder = recorder_for(options, file, Limits())
        self._recorder.compile_texts = False
        self._recorder.start()

    @property
    def _path(self) -> Path:
        return self._file or Path(self._folder or "") / "trace.json"

    def _finish(self) -> None:
        if self._recorder is None:
            return
        self._recorder.finish()
        self._recorder = None
        self._trace = read_trace(self._written)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
