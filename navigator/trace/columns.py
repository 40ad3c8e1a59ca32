"""Columns for data beside the rows of a trace: interned values, device work, memory."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Hashable
from operator import itemgetter
from typing import Generic, TypeVar, cast

from navigator.trace.model import Allocation, DeviceKernel, DeviceWork

_T = TypeVar("_T", bound=Hashable)

WORKS: tuple[str, ...] = ("kernel", "memcpy", "memset")
NONE = -1


def optional(row: int) -> int | None:
    """A row or number; None for NONE."""
    return row if row >= 0 else None


class Interned(Generic[_T]):
    """Distinct values, each represented by a number."""

    def __init__(self) -> None:
        self.values: list[_T] = []
        self._numbers: dict[_T, int] = {}

    def number(self, value: _T) -> int:
        if value not in self._numbers:
            self._numbers[value] = len(self.values)
            self.values.append(value)
        return self._numbers[value]

    def __getitem__(self, number: int) -> _T:
        return self.values[number]


class KernelTable:
    """Device work in columns."""

    def __init__(self) -> None:
        self.names: Interned[str] = Interned()
        self.places: Interned[tuple[str, str]] = Interned()
        """(device, stream)"""
        self.work = array("b")
        self.name, self.place, self.op = (array("i") for _ in range(3))
        self.start, self.duration = array("d"), array("d")
        self.correlation = array("q")
        self.launch: dict[int, str] = {}
        """Correlation -> name of the runtime call."""
        self.reasons: dict[int, str] = {}
        self.graph_nodes: dict[int, int] = {}
        """For work of a graph's replay: the graph in the upper 32 bits, its node in the lower ones,
        numbered in capture order."""
        self.by_op: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return len(self.work)

    def append(
        self, work: int, name: str, place: tuple[str, str], start: float, duration: float, to: int
    ) -> None:
        """``to``: the correlation id of its launch. OverflowError if it exceeds 64 bits."""
        self.correlation.append(to)
        self.name.append(self.names.number(name))
        self.place.append(self.places.number(place))
        self.start.append(start)
        self.duration.append(duration)
        self.op.append(NONE)
        self.work.append(work)

    def assign(self, kernel: int, op: int) -> None:
        """Set the operator that launched it, replacing an earlier one."""
        if self.op[kernel] >= 0:
            self.by_op[self.op[kernel]].remove(kernel)
        self.op[kernel] = op
        self.by_op.setdefault(op, []).append(kernel)

    def kernel(self, number: int, zero: float = 0.0) -> DeviceKernel:
        device, stream = self.places[self.place[number]]
        return DeviceKernel(
            id=number,
            op_id=optional(self.op[number]),
            kind=cast(DeviceWork, WORKS[self.work[number]]),
            name=self.names[self.name[number]],
            start_us=self.start[number] - zero,
            duration_us=self.duration[number],
            device=device,
            stream=stream,
            launch=self.launch.get(self.correlation[number], ""),
            reason=self.reasons.get(number, ""),
        )


class LaunchTable:
    """Calls of the device runtime on the host, including waits, in columns."""

    def __init__(self) -> None:
        self.names: Interned[str] = Interned()
        self.name, self.thread, self.op = (array("i") for _ in range(3))
        """``op`` is the innermost operator around it, or NONE."""
        self.start, self.duration = array("d"), array("d")
        self.correlation = array("q")
        self.numbers: dict[int, int] = {}
        """Correlation -> number of the call."""
        self.kernels: dict[int, str] = {}
        """Call -> name of the kernel that it launches, if recorded, as by HIP."""

    def __len__(self) -> int:
        return len(self.correlation)

    def append(
        self, name: str, thread: int, start: float, duration: float, correlation: int
    ) -> int:
        self.correlation.append(correlation)  # first, since it may overflow
        self.name.append(self.names.number(name))
        self.thread.append(thread)
        self.op.append(NONE)
        self.start.append(start)
        self.duration.append(duration)
        self.numbers[correlation] = len(self.correlation) - 1
        return len(self.correlation) - 1


def work_launched(call: str) -> DeviceWork | None:
    """What a runtime call launches or captures, by its name; None for other calls."""
    if "Memcpy" in call:
        return "memcpy"
    if "Memset" in call:
        return "memset"
    return "kernel" if "Launch" in call and "Graph" not in call and "Host" not in call else None


class VersionTable:
    """Versions of storages over time; they restart if a new storage reuses the number."""

    def __init__(self) -> None:
        self._changes: dict[int, list[tuple[float, int]]] = {}
        self._sorted = True

    def add(self, storage: int, moment: float, version: int) -> None:
        """``moment`` in microseconds; in order within a thread."""
        self._changes.setdefault(storage, []).append((moment, version))
        self._sorted = False

    def at(self, storage: int, moment: float) -> int:
        """The version at a moment; 0 before the first change."""
        if not self._sorted:
            for changes in self._changes.values():
                changes.sort()
            self._sorted = True
        changes = self._changes.get(storage, [])
        before = bisect_right(changes, moment + _HALF_NS, key=itemgetter(0))
        return changes[before - 1][1] if before else 0


_HALF_NS = 0.0005
"""Tolerance, since moments are sums of floats."""


class AllocationTable:
    """Memory allocated and freed, in columns."""

    def __init__(self) -> None:
        self.places: Interned[str] = Interned()
        self.place, self.op = array("i"), array("i")
        self.start = array("d")
        self.size, self.address, self.total, self.reserved = (array("q") for _ in range(4))
        self.by_op: dict[int, list[int]] = {}
        """Row, or NONE -> numbers of allocations."""

    def __len__(self) -> int:
        return len(self.total)

    def append(
        self, start: float, size: int, place: str, address: int, total: int, reserved: int = 0
    ) -> int:
        """``size`` is negative for a release."""
        self.place.append(self.places.number(place))
        self.op.append(NONE)
        self.start.append(start)
        self.size.append(size)
        self.address.append(address)
        self.total.append(total)
        self.reserved.append(reserved)
        return len(self.total) - 1

    def assign(self, number: int, op: int) -> None:
        self.op[number] = op
        self.by_op.setdefault(op, []).append(number)

    def allocation(self, number: int, zero: float = 0.0) -> Allocation:
        return Allocation(
            id=number,
            op_id=optional(self.op[number]),
            start_us=self.start[number] - zero,
            bytes=self.size[number],
            device=self.places[self.place[number]],
            address=self.address[number],
            total_bytes=self.total[number],
            reserved_bytes=self.reserved[number],
        )
