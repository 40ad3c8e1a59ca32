"""A summary of a trace in a few lines of text."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator

from indexes.model.lines import grouped
from navigator.text.answers import wrap
from navigator.trace.figures.blocks import ledgers
from navigator.trace.groups import gather
from navigator.trace.readers.torch_trace import LOG
from navigator.trace.table import COMPILE, OP, PHASES
from navigator.trace.trace import Trace
from navigator.trace.views.collectives import collectives_line
from navigator.trace.views.memory import peak_line
from navigator.trace.wording import duration

_SHOWN = 20
_DEEPEST = 9
"""Maximum depth of rows."""


def summary_lines(trace: Trace, sources: str = "") -> Iterator[str]:
    """What ran, how often, what the trace lacks, and the ``sources`` it is linked with."""
    meta = trace.meta
    table = trace.table
    rows = list(table.operators())
    phases = Counter(PHASES[table.phase[row]] for row in rows)
    yield f"{meta.path}: {meta.format} trace{_torch(trace)}"
    if meta.command:
        yield f"program    {shlex.join(meta.command)}"
    if sources:
        yield f"sources    {sources}"
    if meta.devices:
        yield f"devices    {', '.join(meta.devices)}"
    if rows:
        yield f"operators  {len(rows)}: " + ", ".join(f"{n} {p}" for p, n in phases.items())
    yield from _compiler(trace)
    if meta.format != LOG:
        yield f"kernels    {_kernels(trace)}"
    yield from (f"memory     {peak_line(trace, ledger)}" for ledger in ledgers(trace))
    if calls := collectives_line(trace):
        yield f"c10d       {calls}"
    yield from (f"problem    {problem}" for problem in meta.problems)
    yield from (f"lacks      {what}" for what in meta.lacks)
    yield ""
    yield from _busiest(trace, rows) if meta.format != LOG else _compiled(trace)


def _kernels(trace: Trace) -> str:
    """Counts of kernels, the compiler's separately, and the time of those of no operator."""
    table = trace.table
    rows = table.kernels.op
    compiling = [row >= 0 and table.phase[row] == COMPILE for row in rows]
    text = f"{len(rows)} on devices"
    if any(compiling):
        text += f", {sum(compiling)} of them while compiling"
    each = zip(rows, compiling, table.kernels.duration, strict=True)
    outside = sum(us for row, one, us in each if not one and (row < 0 or table.kind[row] != OP))
    if outside and OP in table.kind:
        text += f"; {duration(outside)} in no operator, as in compiled code: --view kernel"
    return text


def _compiler(trace: Trace) -> Iterator[str]:
    """How often and how long the program compiled."""
    table = trace.table
    if times := len(rows := table.compiler_rows()):
        took = duration(sum(table.duration[row] for row in rows))
        pairs = zip(table.kind, table.phase, strict=True)
        ran = sum(kind == OP and phase == COMPILE for kind, phase in pairs)
        more = f" and {ran} operators of its own" * bool(ran)
        yield f"compiler   {times} time{'s' * (times != 1)}, {took}{more}: --view compiled"


def _torch(trace: Trace) -> str:
    return f" of torch {trace.meta.torch}" if trace.meta.torch else ""


def _busiest(trace: Trace, rows: list[int]) -> Iterator[str]:
    """Operators by device time and self time."""
    if not rows and len(trace.table.kernels):
        yield from _busiest_kernels(trace)
        return
    groups = gather(trace, "operator", rows)[:_SHOWN]
    device = any(one.kernel_us for one in groups)
    yield (f"{'on devices':>12}  " if device else "") + f"{'self time':>12}  {'calls':>7}  operator"
    for group in groups:
        line = f"{group.own_us / 1000:>9.3f} ms  {group.count:>7}  {group.name}"
        yield (f"{group.kernel_us / 1000:>9.3f} ms  " if device else "") + line


def _busiest_kernels(trace: Trace) -> Iterator[str]:
    """For a trace without operators."""
    kernels = trace.table.kernels
    times: defaultdict[int, float] = defaultdict(float)
    for name, us in zip(kernels.name, kernels.duration, strict=True):
        times[name] += us
    calls = Counter(kernels.name)
    yield f"{'on devices':>12}  {'calls':>7}  kernel"
    for name, us in sorted(times.items(), key=lambda one: -one[1])[:_SHOWN]:
        yield f"{us / 1000:>9.3f} ms  {calls[name]:>7}  {kernels.names[name]}"


def _compiled(trace: Trace) -> Iterator[str]:
    """The compiler's messages, graphs and kernels, each with its operators."""
    depth: dict[int, int] = {}
    operators = grouped((op.parent, op.full_name) for op in trace.ops() if op.kind == "op")
    for op in trace.ops():
        above = -1 if op.parent is None else depth.get(op.parent, _DEEPEST)
        if op.kind != "op" and above < _DEEPEST:
            # for guards, the number suffices
            depth[op.id] = _DEEPEST if op.label.startswith("guards: ") else above + 1
            indent = "  " * (above + 1)
            yield f"{indent}{op.label}" + (f"  {op.user}" if op.user else "")
            if op.id in operators:
                yield from wrap(", ".join(operators[op.id]), f"{indent}    ")
