"""A trace in a few lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from navigator.trace.groups import gather
from navigator.trace.table import OP, PHASES
from navigator.trace.trace import Trace

_SHOWN = 20


def summary_lines(trace: Trace) -> Iterator[str]:
    """What ran, how often, and what the trace lacks."""
    meta = trace.meta
    table = trace.table
    rows = [row for row, kind in enumerate(table.kind) if kind == OP]
    phases = Counter(PHASES[table.phase[row]] for row in rows)
    yield f"{meta.path}: {meta.format} trace{_torch(trace)}"
    if meta.command:
        yield f"program    {' '.join(meta.command)}"
    if meta.devices:
        yield f"devices    {', '.join(meta.devices)}"
    yield f"operators  {len(rows)}: " + ", ".join(f"{n} {phase}" for phase, n in phases.items())
    yield f"kernels    {len(table.kernels)} on devices"
    yield from (f"problem    {problem}" for problem in meta.problems)
    yield from (f"lacks      {what}" for what in meta.lacks)
    yield ""
    yield from _busiest(trace, rows)


def _torch(trace: Trace) -> str:
    return f" of torch {trace.meta.torch}" if trace.meta.torch else ""


def _busiest(trace: Trace, rows: list[int]) -> Iterator[str]:
    """The operators by self time: what they call is left out."""
    yield f"{'self time':>12}  {'calls':>7}  operator"
    for group in gather(trace, "operator", rows)[:_SHOWN]:
        yield f"{group.own_us / 1000:>9.3f} ms  {group.count:>7}  {group.name}"
