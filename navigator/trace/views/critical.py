"""The critical path, what takes most of it first."""

from __future__ import annotations

from collections.abc import Sequence

from navigator.trace.figures.critical import Part, critical_path
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


def critical_view(trace: Trace, _links: Links) -> View:
    """A row for each thing that is on it, with the row of the trace where it takes longest."""
    path = critical_path(trace)
    total = sum(part.end - part.start for part in path)
    groups: dict[tuple[str, str], list[Part]] = {}
    for part in path:
        groups.setdefault((part.kind, part.name), []).append(part)
    rows = [_row(kind, name, parts, total) for (kind, name), parts in groups.items()]
    rows.sort(key=lambda row: -float(str(row["time_us"])))
    return View("critical", "critical path", _COLUMNS, rows, _notes(trace, path, total))


def _row(kind: str, name: str, parts: Sequence[Part], total: float) -> dict[str, object]:
    time = sum(part.end - part.start for part in parts)
    longest = max(parts, key=lambda part: part.end - part.start)
    row: dict[str, object] = {"time_us": time, "share": time / total, "count": len(parts)}
    row |= {"kind": kind, "name": name}
    return row | ({"op_id": longest.row} if longest.row >= 0 else {})


def _notes(trace: Trace, path: Sequence[Part], total: float) -> tuple[str, ...]:
    if not path:
        return ("the trace has no times",)
    kinds: dict[str, float] = {}
    for part in path:
        kinds[part.kind] = kinds.get(part.kind, 0.0) + part.end - part.start
    most = sorted(kinds.items(), key=lambda item: -item[1])
    parts = ", ".join(f"{kind} {duration(time)} ({time / total:.0%})" for kind, time in most)
    notes = [f"{duration(total)} in {len(path)} parts: {parts}"]
    if not len(trace.table.launches) and len(trace.table.kernels):
        notes.append("launches are not in the trace: only the device's part is known")
    return tuple(notes)
