"""Device work in a profiler window as columns: launches, kernels, copies, fills."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from ..kineto import nanoseconds
from ..writer import metadata, steps

_TIMES = rb'\s+"ts": (\d+\.\d{3}),\s+"dur": (\d+\.\d{3})\s*,'
_LAUNCH = re.compile(
    rb'"ph": "X",\s+"cat": "(cuda_runtime|cuda_driver)",\s+"name": "([^\n]*)",\s+"pid": \d+,'
    rb'\s+"tid": (\d+),' + _TIMES + rb'\s+"args": \{\s+(?:"External id": \d+,\s+)?"cbid": \d+,'
    rb'\s+"correlation": (\d+)\s+\}\s+\}'
)
_WORK = re.compile(
    rb'"ph": "X",\s+"cat": "(kernel|gpu_memcpy|gpu_memset)",\s+"name": "([^\n]*)",\s+"pid": \d+,'
    rb'\s+"tid": \d+,' + _TIMES + rb'\s+"args": \{([^{}]*)\}\s+\}'
)
_NEEDLESS = re.compile(
    rb'"ph": "X",\s+"cat": "(?:overhead|gpu_user_annotation|cuda_sync)"'  # belong to no operator
)
_FIELDS = [
    re.compile(rb'"%b": (\d+)' % name)
    for name in (b"device", b"stream", b"correlation", b"graph node id")
]


class Names:
    """Numbers for the names of launches and device work."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._numbers: dict[tuple[bytes, bytes], int] = {}
        self._fresh: list[bytes] = []

    def number(self, category: bytes, name: bytes) -> int:
        """The number of a name in the profile."""
        key = category, name
        if key not in self._numbers:
            self._numbers[key] = number = len(self._numbers) + 1
            head = b'{"ph":"M","name":"torchnav_work","pid":%d,"args":{"work":%d,"cat":"%b",'
            self._fresh.append(head % (self._pid, number, category) + b'"name":"%b"}}' % name)
        return self._numbers[key]

    def fresh(self) -> list[bytes]:
        """Lines for the names that are new since the last call."""
        lines, self._fresh = self._fresh, []
        return lines


class Devices:
    """Collects the device events of one window."""

    def __init__(self, names: Names, places: Mapping[str, Sequence[int]]) -> None:
        """``places``: as in ``Window``."""
        self._names = names
        self.places = {
            b"%d" % number: b'"place": %b, ' % json.dumps(place).encode()
            for place, numbers in places.items()
            for number in numbers
        }
        """External id -> text to append to the inputs of its operator."""
        self._launches: dict[int, list[tuple[int, ...]]] = {}
        self._works: list[tuple[int, ...]] = []

    def take(self, piece: bytes) -> int:
        """The number of events of a piece that are device events of known form."""
        launches, works = _LAUNCH.findall(piece), _WORK.findall(piece)
        for category, name, thread, start, duration, correlation in launches:
            row = (
                self._names.number(category, name),
                *nanoseconds((start, duration)),
                int(correlation),
            )
            self._launches.setdefault(int(thread), []).append(row)
        for category, name, start, duration, args in works:
            fields = (field.search(args) for field in _FIELDS)
            numbers = (int(one[1]) if one else 0 for one in fields)
            self._works.append(
                (self._names.number(category, name), *nanoseconds((start, duration)), *numbers)
            )
        return len(launches) + len(works) + len(_NEEDLESS.findall(piece))

    def lines(self, pid: int) -> list[bytes]:
        """Everything: names first, then launches by thread, then work."""
        lines = self._names.fresh()
        for thread, rows in self._launches.items():
            lines.append(_line("launches", _LAUNCHES, rows, pid, thread))
        return [*lines, _line("works", _WORKS, self._works, pid, 0)] if self._works else lines


_LAUNCHES = ("work", "start", "duration", "correlation")
_WORKS = (*_LAUNCHES[:3], "device", "stream", "correlation", "node")
_STEPS = frozenset({"start", "correlation", "node"})
"""Columns that hold differences to the previous row."""


def _line(
    name: str, fields: Sequence[str], rows: Sequence[tuple[int, ...]], pid: int, thread: int
) -> bytes:
    rows = sorted(rows, key=lambda row: row[1])
    columns = (list(column) for column in zip(*rows, strict=True))
    args = {
        field: steps(column) if field in _STEPS else column
        for field, column in zip(fields, columns, strict=True)
    }
    return metadata(name, {"count": len(rows), **args}, pid, thread)
