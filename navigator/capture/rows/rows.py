"""Turns saved profiler windows into columns, as long as they have kineto's present layout.

The layout is no documented format: if an event deviates from it, the window is written unchanged.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import compress
from typing import Any, NamedTuple

from ..kineto import MARK, nanoseconds
from ..writer import metadata, steps
from .device_columns import Devices

_SEQUENCE = rb'(?:"Sequence number": (-?\d+), "Fwd thread id": (\d+), )?'
_EVENT = re.compile(
    rb'"ph": "X",\s+"cat": "(cpu_op|user_annotation)",\s+"name": "([^\n]*)",\s+"pid": \d+,'
    rb'\s+"tid": (\d+),\s+"ts": (\d+\.\d{3}),\s+"dur": (\d+\.\d{3})\s*,\s+"args": \{'
    rb'\s+"External id": (\d+),'
    + _SEQUENCE
    + rb'"Record function id": \d+, '
    + _SEQUENCE
    + rb'([^\n]*)"Ev Idx": \d+(?:, ([^\n]*))?\s+\}\s+\}'
)
_SPAN = b'"ph": "X"'
_BOOKKEEPING = re.compile(rb'"ph": "X",\s+"cat": "Trace"')
_END, _PIECE = b"\n  },", 60_000
_MARK = MARK.encode()
PLACE = b'"place": '
"""Appended to the inputs of an operator with a known device."""


class Mark(NamedTuple):
    """One outermost call, by number. Times in nanoseconds, with the zero of the profile."""

    start: int
    duration: int
    number: int


class Columns(NamedTuple):
    """The events of one thread that began in a window, in order of their start."""

    thread: int
    start: list[int]
    """Starts of operators; the next columns are of operators too."""
    duration: list[int]
    kind: list[int]
    sequence: list[int]
    forward: list[int]
    marks: list[Mark]
    """Calls, or only those that ran an operator."""


class Kinds:
    """Numbers for operators with the same name and inputs."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._numbers: dict[tuple[bytes, ...], int] = {}
        self._fresh: list[bytes] = []
        self.elsewhere = False
        """Whether any of them used a tensor that is not strided."""

    def numbers(self, keys: Any) -> list[int]:
        """For category, name and inputs, as in the profile; 0 for a marker."""
        known = self._numbers.get
        return [known(key) or self._new(key) for key in keys]

    def _new(self, key: tuple[bytes, ...]) -> int:
        category, name, inputs = key
        if name.startswith(_MARK):
            return 0
        number = self._numbers[key] = len(self._numbers) + 1
        if PLACE not in inputs:
            self.elsewhere = self.elsewhere or b"nested" in name or _lacks_strides(inputs)
        rest = b',"annotation":true' * (category != b"cpu_op")
        rest += (b"," + inputs).rstrip(b", ")
        head = b'{"ph":"M","name":"torchnav_kind","pid":%d,"args":{"kind":%d,"name":"%b"'
        self._fresh.append(head % (self._pid, number, name) + rest + b"}}")
        return number

    def fresh(self) -> list[bytes]:
        """Lines for the kinds that are new since the last call."""
        lines, self._fresh = self._fresh, []
        return lines


def _lacks_strides(inputs: bytes) -> bool:
    """Whether a tensor is not strided: its strides, or also its sizes, are not recorded."""
    try:
        fields = json.loads(b"{%b}" % inputs.rstrip(b", "))
    except ValueError:
        return False
    return _lacks(fields.get("Input Dims", []), fields.get("Input Strides", []))


def _lacks(sizes: list[Any], strides: list[Any]) -> bool:
    if any(isinstance(size, list) for size in sizes):
        return any(map(_lacks, sizes, strides))
    return bool(sizes) and not strides


def columns_of(
    data: bytes, kinds: Kinds, until: int, devices: Devices | None = None
) -> list[Columns] | None:
    """The events of a saved window that began before a moment; None if its layout is not known.
    With ``devices``, which collects device events, the marks include all calls."""
    threads: dict[int, Columns] = {}
    for piece in _pieces(data):
        found = _EVENT.findall(piece)
        others = piece.count(_SPAN) - len(found)
        others -= devices.take(piece) if others and devices else 0
        if others and others != len(_BOOKKEEPING.findall(piece)):
            return None
        by_thread: dict[bytes, list[tuple[bytes, ...]]] = {}
        for event in found:
            by_thread.setdefault(event[2], []).append(event)
        for tid, events in by_thread.items():
            columns = threads.setdefault(int(tid), Columns(int(tid), [], [], [], [], [], []))
            more = _columns(events, kinds, until, devices.places if devices else {})
            for column, rest in zip(columns[1:], more, strict=True):
                column.extend(rest)  # type: ignore[attr-defined]
    if devices:
        return [*threads.values()]
    return [thread._replace(marks=busy(thread.marks, thread.start)) for thread in threads.values()]


def _pieces(data: bytes) -> Iterator[bytes]:
    """The data in pieces of whole events, to spare the program's garbage collector."""
    at = 0
    while at < len(data):
        end = data.find(_END, at + _PIECE)
        end = len(data) if end < 0 else end + len(_END)
        yield data[at:end]
        at = end


def _columns(
    events: list[tuple[bytes, ...]], kinds: Kinds, until: int, places: Mapping[bytes, bytes]
) -> list[list[Any]]:
    """Everything except the thread."""
    category, name, _, begun, lasted, number, first, forward, second, later, inputs, rest = zip(
        *events, strict=True
    )
    if any(rest):  # such as collectives
        told = zip(inputs, rest, strict=True)
        inputs = tuple(one + more.rstrip() + b", " if more else one for one, more in told)
    if places:
        told = zip(inputs, number, strict=True)
        inputs = tuple(text + places.get(one, b"") for text, one in told)
    start, duration = nanoseconds(begun), nanoseconds(lasted)
    kind = kinds.numbers(zip(category, name, inputs, strict=True))
    sequence = [int(a or b or -1) for a, b in zip(first, second, strict=True)]
    threads = [int(a or b or 0) for a, b in zip(forward, later, strict=True)]
    wanted = [one and moment < until for one, moment in zip(kind, start, strict=True)]
    rows = [list(compress(one, wanted)) for one in (start, duration, kind, sequence, threads)]
    marks = [
        Mark(start[at], duration[at], int(name[at][len(_MARK) :]))
        for at, one in enumerate(kind)
        if not one
    ]
    return [*rows, marks]


def busy(marks: list[Mark], starts: list[int]) -> list[Mark]:
    """The calls that ran an operator."""
    starts = sorted(starts)
    found = []
    for mark in marks:
        at = bisect_left(starts, mark.start)
        if at < len(starts) and starts[at] < mark.start + mark.duration:
            found.append(mark)
    return found


def operators_line(columns: Columns, pid: int) -> bytes:
    """``torchnav_ops`` in the compiled recorder's format, without places and outputs."""
    count = len(columns.kind)
    args = {
        "count": count,
        "kind": columns.kind,
        "start": steps(columns.start),
        "duration": columns.duration,
        "output": [0] * count,
        "at": [0] * count,
        "sequence": steps(columns.sequence),
        "forward": columns.forward,
    }
    return metadata("ops", args, pid, columns.thread)
