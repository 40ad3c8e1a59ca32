"""The steps of a training or inference loop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from navigator.trace.figures.spans import Span, has_times, operator_rows, row_span
from navigator.trace.table import ANNOTATION, COMPILE, GONE, OPTIMIZER
from navigator.trace.trace import Trace

_PROFILERS = re.compile(r"ProfilerStep#\d+")
_NAMED = re.compile(r"(?!Optimizer\.)(?:.*[\W_\d])?(?:step|iteration)(?:[\W_\d].*)?", re.IGNORECASE)
_OPTIMIZERS = re.compile(r"Optimizer\.step\b.*")
_BY_UPDATES = "a step ends with Optimizer.step; the first one includes all that came before"


class Step(NamedTuple):
    """An iteration of the loop. Times in microseconds, as in the trace's columns."""

    name: str
    start: float
    end: float
    row: int | None
    """Its row, if it is one."""


class Steps(NamedTuple):
    """All steps by time, without overlaps."""

    rule: str
    """How they were recognised, or why there are none."""
    found: Sequence[Step]


def steps_of(trace: Trace) -> Steps:
    """By the profiler's step marks, else ``record_function`` blocks named like steps, else
    ``Optimizer.step``, which ends one."""
    if not has_times(trace):
        return Steps("the trace has no times", ())
    for pattern, rule in (
        (_PROFILERS, "steps are torch.profiler's: prof.step()"),
        (_NAMED, "steps are the program's record_function blocks of this name"),
    ):
        rows = _outermost(trace, _annotations(trace, pattern))
        if rows:
            return Steps(rule, [_step(trace, row) for row in rows])
    ends = _updates(trace, _annotations(trace, _OPTIMIZERS))
    if ends:
        return Steps(_BY_UPDATES, _between(trace, ends))
    return Steps(
        "no steps: the trace has no ProfilerStep#N, no record_function block named step or "
        "iteration, and no Optimizer.step",
        (),
    )


def _annotations(trace: Trace, pattern: re.Pattern[str]) -> list[int]:
    """Rows by time."""
    table = trace.table
    names = {n for n, (name, _) in enumerate(table.names.values) if pattern.fullmatch(name)}
    kinds = enumerate(table.kind[: len(table)])
    rows = [row for row, kind in kinds if kind == ANNOTATION and table.name[row] in names]
    of_program = (row for row in rows if table.phase[row] != COMPILE)
    return sorted(of_program, key=table.start.__getitem__)


def _outermost(trace: Trace, rows: Sequence[int]) -> list[int]:
    """Rows that start after the end of the previous one: steps of one thread, not nested."""
    found: list[int] = []
    for row in rows:
        if not found or trace.table.start[row] >= row_span(trace, found[-1])[1]:
            found.append(row)
    return found


def _step(trace: Trace, row: int) -> Step:
    return Step(trace.table.name_of(row), *row_span(trace, row), row)


def _updates(trace: Trace, rows: Sequence[int]) -> list[float]:
    """Ends of optimizer updates that end a step: of several updates without forward or backward
    operators between them, as with two optimizers, the last one."""
    table = trace.table
    work = sorted(table.start[r] for r in operator_rows(trace) if table.phase[r] != OPTIMIZER)
    found: list[float] = []
    at = 0
    for row in rows:
        start, end = row_span(trace, row)
        before = at
        while at < len(work) and work[at] < start:
            at += 1
        if found and at == before:
            found[-1] = end
        else:
            found.append(end)
    return found


def _between(trace: Trace, ends: Sequence[float]) -> list[Step]:
    starts = [_span(trace)[0], *ends]
    return [
        Step(f"step {number}", start, end, None)
        for number, (start, end) in enumerate(zip(starts, ends, strict=False))
    ]


def _span(trace: Trace) -> Span:
    """From the first row to the end of the last."""
    table = trace.table
    rows = [row for row in range(len(table)) if table.kind[row] != GONE]
    return (
        min((table.start[row] for row in rows), default=0.0),
        max((row_span(trace, row)[1] for row in rows), default=0.0),
    )
