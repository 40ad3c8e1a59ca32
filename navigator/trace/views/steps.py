"""The view of steps: time, operators, phases, device, memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from navigator.trace.figures.spans import (
    Span,
    kernel_spans,
    length,
    merged,
    operator_rows,
    part_at,
    row_span,
    shares,
)
from navigator.trace.figures.steps import Step, steps_of
from navigator.trace.table import PHASES
from navigator.trace.trace import Trace
from navigator.trace.views.view import Column, Links, View

_SLOW = 1.5
"""Factor of the median above which first steps count as warm-up."""


@dataclass(slots=True)
class _Sums:
    """Sums for a step. Times in microseconds."""

    operators: int = 0
    phases: list[float] = field(default_factory=lambda: [0.0] * len(PHASES))
    spans: list[Span] = field(default_factory=list)
    """Outermost operators of all threads."""
    busy: float = 0.0
    peak: int | None = None
    change: int = 0


def steps_view(trace: Trace, _links: Links) -> View:
    """A row for each step, by time."""
    rule, steps = steps_of(trace)
    sums = _sums(trace, [(step.start, step.end) for step in steps])
    usual = median([step.end - step.start for step in steps]) if steps else 0.0
    rows = [_row(trace, *one, usual) for one in zip(steps, sums, strict=True)]
    _mark_warm_up(rows)
    return View("steps", "steps", _columns(trace), rows, (rule, *_notes(trace, steps)))


def _columns(trace: Trace) -> tuple[Column, ...]:
    """Columns for which the trace has data."""
    table = trace.table
    used = sorted(set(table.phase[: len(table)]))
    return (
        Column("step", "step"),
        Column("time_us", "time", "us"),
        Column("times_median", "x median"),
        Column("operators", "operators", "count"),
        *(Column(f"{PHASES[phase]}_us", PHASES[phase], "us") for phase in used),
        Column("other_us", "other", "us"),
        *([Column("busy_us", "device busy", "us")] * bool(table.kernels)),
        *([Column("idle_us", "device idle", "us")] * bool(table.kernels)),
        *([Column("peak_bytes", "peak memory", "bytes")] * bool(table.allocations)),
        *([Column("kept_bytes", "kept", "bytes")] * bool(table.allocations)),
        Column("note", ""),
    )


def _sums(trace: Trace, parts: Sequence[Span]) -> list[_Sums]:
    table, sums = trace.table, [_Sums() for _ in parts]
    for row in table.operators():
        step = part_at(parts, table.start[row])
        if step is not None:
            sums[step].operators += 1
    for row in operator_rows(trace):
        for number, span in shares(parts, row_span(trace, row)):
            sums[number].phases[table.phase[row]] += span[1] - span[0]
            sums[number].spans.append(span)
    for busy in merged(kernel_spans(trace)):
        for number, span in shares(parts, busy):
            sums[number].busy += span[1] - span[0]
    _add_memory(trace, parts, sums)
    return sums


def _add_memory(trace: Trace, parts: Sequence[Span], sums: Sequence[_Sums]) -> None:
    allocations = trace.table.allocations
    for start, size, total in zip(
        allocations.start, allocations.size, allocations.total, strict=True
    ):
        step = part_at(parts, start)
        if step is not None:
            sums[step].peak = max(total, sums[step].peak or 0)
            sums[step].change += size


def _row(trace: Trace, step: Step, sums: _Sums, usual: float) -> dict[str, Any]:
    time = step.end - step.start
    phases = {f"{name}_us": spent for name, spent in zip(PHASES, sums.phases, strict=True)}
    row = {
        "step": step.name,
        "time_us": time,
        "times_median": round(time / usual, 2) if usual else None,
        "operators": sums.operators,
        **phases,
        "other_us": max(time - length(merged(sums.spans)), 0.0),
        "start_us": step.start - (trace.table.zero or 0.0),
        "note": "compiles" if phases.get("compile_us") else "",
    }
    if len(trace.table.kernels):
        row |= {"busy_us": sums.busy, "idle_us": max(time - sums.busy, 0.0)}
    if len(trace.table.allocations):
        row |= {"peak_bytes": sums.peak, "kept_bytes": sums.change}
    return row | ({"op_id": step.row} if step.row is not None else {})


def _mark_warm_up(rows: Sequence[dict[str, Any]]) -> None:
    """Marks slow first steps, if there are enough steps to compare."""
    for row in rows if len(rows) > 2 else ():
        if (row["times_median"] or 0) <= _SLOW:
            break
        row["note"] = f"warm-up, {row['note']}" if row["note"] else "warm-up"


def _notes(trace: Trace, steps: Sequence[Step]) -> list[str]:
    """What lies outside of steps, and the meaning of columns."""
    if not steps:
        return []
    parts = [(step.start, step.end) for step in steps]
    starts = [trace.table.start[row] for row in operator_rows(trace)]
    outside = sum(part_at(parts, start) is None for start in starts)
    notes = ["phases are times in operators of all threads; other is when no operator ran"]
    if len(trace.table.kernels):
        notes.append("the device's time is that between a step's start and end")
    if outside:
        notes.append(f"{outside} outermost operators are in no step")
    return notes
