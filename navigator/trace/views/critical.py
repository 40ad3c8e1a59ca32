"""The view of the critical path, longest part first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from navigator.trace.columns import NONE
from navigator.trace.figures.critical import Part, path_backwards
from navigator.trace.trace import Trace
from navigator.trace.views.view import Column, Links, View
from navigator.trace.wording import duration

_COLUMNS = (
    Column("time_us", "on the path", "us"),
    Column("share", "share", "ratio"),
    Column("count", "parts", "count"),
    Column("kind", "kind"),
    Column("name", "name"),
)


@dataclass(slots=True)
class _Group:
    """Parts of one kind and name. Times in microseconds."""

    kind: str
    name: str
    count: int = 0
    time: float = 0.0
    longest: float = 0.0
    row: int = NONE
    """The row of the longest part."""

    def add(self, part: Part) -> None:
        length = part.end - part.start
        self.count += 1
        self.time += length
        if length > self.longest:
            self.longest, self.row = length, part.row


def critical_view(trace: Trace, _links: Links) -> View:
    """A row for each item on the path, with the trace row where it takes longest."""
    groups: dict[tuple[str, str], _Group] = {}
    for part in path_backwards(trace):
        key = (part.kind, part.name)
        if key not in groups:
            groups[key] = _Group(*key)
        groups[key].add(part)
    found = sorted(groups.values(), key=lambda group: -group.time)
    total = sum(group.time for group in found)
    rows = [_row(group, total) for group in found]
    return View("critical", "critical path", _COLUMNS, rows, _notes(trace, found, total))


def _row(group: _Group, total: float) -> dict[str, object]:
    row: dict[str, object] = {"time_us": group.time, "share": group.time / total}
    row |= {"count": group.count, "kind": group.kind, "name": group.name}
    return row | ({"op_id": group.row} if group.row >= 0 else {})


def _notes(trace: Trace, groups: Sequence[_Group], total: float) -> tuple[str, ...]:
    if not groups:
        return ("the trace has no times",)
    kinds: dict[str, float] = {}
    for group in groups:
        kinds[group.kind] = kinds.get(group.kind, 0.0) + group.time
    most = sorted(kinds.items(), key=lambda item: -item[1])
    parts = ", ".join(f"{kind} {duration(time)} ({time / total:.0%})" for kind, time in most)
    count = sum(group.count for group in groups)
    notes = [f"{duration(total)} in {count:,} parts: {parts}"]
    if not len(trace.table.launches) and len(trace.table.kernels):
        notes.append("launches are not in the trace: only the device's part is known")
    return tuple(notes)
