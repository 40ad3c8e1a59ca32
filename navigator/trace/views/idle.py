"""The view of idle time by reason, longest first."""

from __future__ import annotations

from collections.abc import Sequence

from indexes.model.lines import grouped
from navigator.trace.figures.idle import Gap, idle_gaps, whole
from navigator.trace.figures.spans import has_times
from navigator.trace.trace import Trace
from navigator.trace.views.view import Column, Links, View
from navigator.trace.wording import duration

_COLUMNS = (
    Column("time_us", "idle", "us"),
    Column("share", "of the run", "ratio"),
    Column("count", "gaps", "count"),
    Column("longest_us", "longest", "us"),
    Column("where", "where"),
    Column("reason", "because"),
    Column("doing", "in"),
)


def idle_view(trace: Trace, _links: Links) -> View:
    """A row for each reason and CPU activity, with the start of the longest gap."""
    start, end = whole(trace)
    found = idle_gaps(trace)
    groups = grouped(((gap.where, gap.reason, gap.doing), gap) for gap in found)
    rows = [_row(trace, *key, gaps, end - start) for key, gaps in groups.items()]
    rows.sort(key=lambda row: -float(str(row["time_us"])))
    return View("idle", "idle time", _COLUMNS, rows, tuple(_notes(trace, found, end - start)))


def _row(
    trace: Trace, where: str, reason: str, doing: str, gaps: Sequence[Gap], run: float
) -> dict[str, object]:
    time = sum(gap.end - gap.start for gap in gaps)
    longest = max(gaps, key=lambda gap: gap.end - gap.start)
    row: dict[str, object] = {"time_us": time, "share": time / run, "count": len(gaps)}
    row |= {"longest_us": longest.end - longest.start, "where": where, "reason": reason}
    row |= {"doing": doing, "start_us": longest.start - (trace.table.zero or 0.0)}
    return row | ({"op_id": longest.row} if longest.row >= 0 else {})


def _notes(trace: Trace, found: Sequence[Gap], run: float) -> list[str]:
    if not has_times(trace):
        return ["the trace has no times"]
    idle: dict[str, float] = {}
    for gap in found:
        idle[gap.where] = idle.get(gap.where, 0.0) + gap.end - gap.start
    notes = [
        f"{where} computed nothing for {duration(time)} of {duration(run)} ({time / run:.0%})"
        for where, time in idle.items()
    ]
    if not len(trace.table.kernels):
        notes.append("no device work was recorded: idle is when no operator ran in any thread")
    return notes
