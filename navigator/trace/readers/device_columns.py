"""What devices did, from the columns of torchnav's recorder: see ``docs/trace-format.md``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from navigator.trace.building.builder import Builder
from navigator.trace.table import Table

WORK = {"kernel": 0, "gpu_memcpy": 1, "gpu_memset": 2, "Kernel": 0, "Memcpy": 1, "Memset": 2}
"""Categories of device work, and what it is: an index of ``columns.WORKS``."""
_LAUNCHES = ("work", "start", "duration", "correlation")
_WORKS = (*_LAUNCHES, "device", "stream", "node")
_ADDED = ("start", "call", "sequence", "address", "total", "correlation", "node")
"""Columns that hold what is added to the row before."""


class DeviceColumns:
    """Reads ``torchnav_work``, ``torchnav_launches`` and ``torchnav_works``."""

    def __init__(self, table: Table, builder: Builder) -> None:
        self._table, self._builder = table, builder
        self._names: dict[int, tuple[int, str]] = {}
        """Number of the file -> (what it is, name)."""

    def name(self, args: dict[str, Any]) -> None:
        """Of launches, or of work."""
        what = WORK.get(str(args["cat"]), 0)
        self._names[int(args["work"])] = what, str(args["name"])

    def launches(self, args: dict[str, Any], thread: int) -> None:
        """Calls of the runtime in a thread."""
        for work, start, duration, correlation in column_rows(args, _LAUNCHES):
            times = start / 1000, duration / 1000
            self._builder.add_launch(thread, *times, correlation, self._names[work][1])

    def works(self, args: dict[str, Any]) -> None:
        """Kernels, copies and fills."""
        kernels = self._table.kernels
        for work, start, duration, correlation, device, stream, node in column_rows(args, _WORKS):
            what, name = self._names[work]
            place, times = (str(device), str(stream)), (start / 1000, duration / 1000)
            kernels.append(what, name, place, *times, correlation)
            if node:
                kernels.graph_nodes[len(kernels) - 1] = node


def column_rows(args: dict[str, Any], names: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """The rows of an event that holds columns of these names."""
    columns = (accumulate(args[name]) if name in _ADDED else args[name] for name in names)
    return zip(*columns, strict=True)
