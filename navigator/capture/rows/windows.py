"""Writes closed windows one after the other: the events first, then the window itself."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from ..calls import CallLog
from ..limits.options import Limits
from ..limits.window import Part
from ..profiler import Window, read_saved
from ..writer import TraceFile, metadata

if TYPE_CHECKING:
    from .event_columns import Seen

_WAITING = 3
"""Maximum number of closed windows in the queue; then the main thread writes them."""
_ASIDE = "the program ran a profiler of its own, and of torch's there can be only one"
_SEEN = (
    "operators that ran meanwhile are those that it saw (none while it warms up), joined with "
    "calls by time, without what it did not record, as overloads; the compiled recorder records all"
)
_UNSEEN = (
    "what ran meanwhile has its outermost calls here and no operators; the compiled recorder "
    "sees both"
)
NO_WINDOW = (
    "the profiler could not be started at once from another thread or within a backward pass"
)


class Closed(NamedTuple):
    """A closed window without a tree, waiting to be written."""

    path: str
    """The saved profile."""
    calls: dict[int, int]
    """Calls made in it: number -> kind."""
    start_ns: int
    until_ns: int
    """Events that began later are skipped."""
    end_ns: int


class Windows:
    """Writes windows into a file, in the order in which they closed."""

    def __init__(self, file: TraceFile, log: CallLog, defined: Callable[[], list[bytes]]) -> None:
        """``defined``: returns lines for the program's definitions since its last call."""
        self._file, self._log, self._defined = file, log, defined
        self._pid = os.getpid()
        self._waiting: deque[Closed] = deque()
        self._merging = threading.Lock()
        self._written: set[str] = set()
        self.count = 0
        """Number of written windows."""

    def add(self, closed: Closed) -> None:
        """Queue a window for writing."""
        self._waiting.append(closed)
        if len(self._waiting) > _WAITING:
            self.write_waiting()

    def write_waiting(self) -> None:
        """Write the queued windows; rarely called from the main thread."""
        with self._merging:
            while self._waiting:
                try:
                    self._write(self._waiting.popleft())
                except OSError as error:
                    self._file.fail(error)
                except KeyboardInterrupt:  # only when the program has ended
                    for left in self._waiting:
                        Path(left.path).unlink(missing_ok=True)
                    raise

    def _write(self, closed: Closed) -> None:
        data = read_saved(closed.path, tempfile.gettempdir())
        rows = self._log.rows(data, closed.calls, closed.until_ns - self._log.base_ns)
        last = self._ended(closed.start_ns, closed.end_ns, last_call=max(closed.calls, default=0))
        if self._log.elsewhere:
            self._report_once(
                "elsewhere",
                f"of window {self.count} it is not known which operators ran on tensors "
                "that are not strided",
            )
        self._file.write([*rows, *self._defined(), last])

    def write_tree(self, window: Window, start_ns: int, end_ns: int, part: Part | None) -> None:
        """Write a window with a tree, or only ``part`` of it."""
        lines, places = self._log.window(window, part)
        devices = window.saved.header.get("deviceProperties", [])
        last = self._ended(start_ns, end_ns, places=places, devices=devices)
        self._file.write([*lines, *self._defined()])
        self._file.write_unlimited([last])

    def write_aside(
        self, seen: Seen | None, since_ns: int, limits: Limits, why: str = _ASIDE
    ) -> None:
        """Write what ran while no window was open, from the result of the program's profiler."""
        self.write_waiting()
        aside = self._log.aside(seen, limits)
        last = self._ended(since_ns, time_ns(), last_call=aside.last_call)
        self._file.write([*aside.lines, *self._defined(), last])
        problem = f"{why}: {_SEEN if aside.seen else _UNSEEN}"
        self._report_once(problem, problem)

    def _ended(self, start_ns: int, end_ns: int, **more: Any) -> bytes:
        self.count += 1
        args = {"window": self.count, "start_ns": start_ns, "end_ns": end_ns, **more}
        return metadata("window", args, self._pid)

    def _report_once(self, what: str, problem: str) -> None:
        if what not in self._written:
            self._written.add(what)
            self._file.write_unlimited([metadata("problem", {"message": problem}, self._pid)])
