"""A trace in a few lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from navigator.trace.model import TraceOp
from navigator.trace.trace import Trace

_SHOWN = 20


def summary_lines(trace: Trace) -> Iterator[str]:
    """What ran, how often, and what the trace lacks."""
    meta = trace.meta
    ops = [op for op in trace.ops() if op.kind == "op"]
    phases = Counter(op.phase for op in ops)
    yield f"{meta.path}: {meta.format} trace{_torch(trace)}"
    if meta.command:
        yield f"program    {' '.join(meta.command)}"
    if meta.devices:
        yield f"devices    {', '.join(meta.devices)}"
    yield f"operators  {len(ops)}: " + ", ".join(f"{n} {phase}" for phase, n in phases.items())
    yield f"kernels    {len(trace.table.kernels)} on devices"
    yield from (f"problem    {problem}" for problem in meta.problems)
    yield from (f"lacks      {what}" for what in meta.lacks)
    yield ""
    yield from _busiest(trace, ops)


def _torch(trace: Trace) -> str:
    return f" of torch {trace.meta.torch}" if trace.meta.torch else ""


def _busiest(trace: Trace, ops: list[TraceOp]) -> Iterator[str]:
    """The operators by the time spent in themselves, what they call left out."""
    own: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for op in ops:
        inside = sum(trace.table.duration[child] for child in trace.children(op.id))
        own[op.label] += max(round(op.duration_us - inside), 0)
        calls[op.label] += 1
    yield f"{'own time':>12}  {'calls':>7}  operator"
    for label, microseconds in own.most_common(_SHOWN):
        yield f"{microseconds / 1000:>9.3f} ms  {calls[label]:>7}  {label}"
