"""Reads Nsight Compute reports written by ``ncu --csv``: the profiled kernels.

The page ``details`` has a row for each metric of a kernel, the page ``raw`` a row for each
kernel and a column for each metric, with the units in the row below the heading.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from indexes.model.errors import TABLE_BYTES
from navigator.trace.readers.packed import Content
from navigator.trace.trace import BadTrace, Trace, Watch

_HEADING = re.compile(rb'^"?ID"?,.*"?Kernel Name"?', re.MULTILINE)
_NOISE = b"==PROF=="
"""ncu's messages, which precede the table if both go to one file."""
_TIMES = ("gpu__time_duration.sum", "gpu__time_duration [ns]", "Duration")
_UNITS = {"n": 1e-3, "u": 1.0, "m": 1e3, "s": 1e6}
"""Microseconds per unit, by its first letter: ``nsecond``, ``us``, ``msecond``, ``second``."""
_LONGEST = 1e18
"""Upper bound of a time in any unit: thirty years in nanoseconds."""

Row = dict[str, str]


def recognises(_path: Path, head: bytes) -> bool:
    return head.startswith(_NOISE) or _HEADING.search(head) is not None


def read(path: Path, _watch: Watch) -> Trace:
    """The kernels in order, back to back. Raises BadTrace for another table."""
    trace = Trace()
    meta = trace.meta
    meta.path, meta.format, meta.complete = str(path), "Nsight Compute", True
    at = 0.0
    for name, place, length in _kernels(_table(path)):
        trace.table.kernels.append(0, name, place, at, length, len(trace.table.kernels))
        at += length
    if not at and not len(trace.table.kernels):
        raise BadTrace(f"{path} holds no kernel of Nsight Compute")
    for number in range(len(trace.table.kernels)):
        trace.table.kernels.reasons[number] = "a report of Nsight Compute holds no operators"
    meta.lacks.append("operators, and when each kernel ran: a report of Nsight Compute holds none")
    return trace


def _table(path: Path) -> Iterator[Row]:
    try:
        blocks, size = [], 0
        for block in Content(path).blocks():
            blocks.append(block)
            size += len(block)
            if size > TABLE_BYTES:
                raise BadTrace(
                    f"{path} is larger than {TABLE_BYTES >> 20} MB: too large for a report"
                )
    except OSError as error:
        raise BadTrace(f"cannot read {path}: {error.strerror or error}") from error
    data = b"".join(blocks)
    heading = _HEADING.search(data)
    if heading is None:
        raise BadTrace(f"{path} has no table of Nsight Compute: ncu --csv writes one")
    text = data[heading.start() :].decode("utf-8", "replace")
    try:
        yield from csv.DictReader(io.StringIO(text, newline=""))
    except csv.Error as error:
        raise BadTrace(f"{path} is not a table of Nsight Compute: {error}") from error


def _kernels(rows: Iterator[Row]) -> Iterator[tuple[str, tuple[str, str], float]]:
    """Name, (device, stream) and microseconds of each kernel, in report order."""
    found: dict[tuple[str, str], tuple[str, tuple[str, str], float]] = {}
    units: Row = {}
    for row in rows:
        number, name = row.get("ID") or "", row.get("Kernel Name") or ""
        if not number:
            units = row
        elif name:
            key = (row.get("Process ID") or "", number)
            length = _length(row, units) or found.get(key, ("", ("", ""), 0.0))[2]
            place = (row.get("Device") or "0", row.get("Stream") or "")
            found[key] = (name, place, length)
    yield from found.values()


def _length(row: Row, units: Row) -> float:
    """The duration in a row, or 0."""
    if row.get("Metric Name") in _TIMES:
        return _microseconds(row.get("Metric Value"), row.get("Metric Unit"))
    column = next((one for one in _TIMES if one in row), "")
    return _microseconds(row.get(column), units.get(column)) if column else 0.0


def _microseconds(text: str | None, unit: str | None) -> float:
    try:
        value = float((text or "").replace(",", ""))
    except ValueError:
        return 0.0
    return value * _UNITS.get((unit or "n")[:1], 1e-3) if 0 <= value < _LONGEST else 0.0
