"""Totals of rows by operator, module, line, Node or device kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from navigator.trace.table import COMPILE, NODE, OP, REGION, Table

if TYPE_CHECKING:  # else a circular import
    from navigator.trace.trace import Trace

GroupBy = Literal["operator", "module", "line", "node", "kernel"]
GROUPS: tuple[GroupBy, ...] = ("operator", "module", "line", "node", "kernel")
_TIMED = (OP, NODE, REGION)


@dataclass(slots=True)
class Group:
    """Rows with a common key."""

    name: str
    count: int = 0
    total_us: float = 0.0
    """Total time, including calls; nested rows of the group count once."""
    own_us: float = 0.0
    """Self time, without calls."""
    kernel_us: float = 0.0
    """Time of the device work that they launched themselves."""
    term: str = ""
    """The filter that selects these rows."""


def gather(trace: Trace, by: GroupBy, rows: Iterable[int] | None = None) -> list[Group]:
    """Groups of operators, by device time, then self time, descending. ``rows`` restricts them.
    Compilation is one group, and by operator so is printing of tensors."""
    if by == "kernel":
        return _kernels(trace)
    table = trace.table
    groups: dict[str, Group] = {}
    key = group_key(trace, by)
    for row in rows if rows is not None else range(len(table)):
        if table.kind[row] not in _TIMED or row in table.untimed:
            continue
        name, term = key(row)
        group = groups.setdefault(name, Group(name, term=term))
        group.count += 1
        group.own_us += own_time(trace, row)
        group.kernel_us += kernel_time(table, row)
        if not _is_inside(trace, row, name, key):
            group.total_us += table.duration[row]
    return sorted(groups.values(), key=lambda group: (-group.kernel_us, -group.own_us))


def line_totals(trace: Trace, path: str) -> dict[int, Group]:
    """Operators by the line that led to them in a user's file, with their self time."""
    table = trace.table
    lines = {
        number: stack.location.line
        for number, stack in enumerate(table.stacks)
        if stack.location is not None and stack.location.path == path
    }
    totals: dict[int, Group] = {}
    for row, stack in enumerate(table.stack):
        line = lines.get(stack)
        timed = table.kind[row] in _TIMED and table.phase[row] != COMPILE
        if line is not None and timed:
            total = totals.setdefault(line, Group(f"{path}:{line}"))
            total.count += 1
            total.own_us += own_time(trace, row)
    return totals


def own_time(trace: Trace, row: int) -> float:
    """The self time of a row in microseconds."""
    table = trace.table
    inside = sum(table.duration[child] for child in table.children(row))
    return max(table.duration[row] - inside, 0.0)


def kernel_time(table: Table, row: int) -> float:
    """Device time of the work that a row itself launched, in microseconds."""
    return sum(table.kernels.duration[number] for number in table.kernels.by_op.get(row, ()))


def hottest(trace: Trace) -> int | None:
    """The longest call of the operator with most device time or, without any, self time; None
    without operators. Other libraries, printing and compilation only count if no ATen operator
    ran."""
    times = _work_times(trace.table)
    rows = [row for row in range(len(times)) if trace.table.kind[row] == OP]
    for chosen in (list(filter(partial(_is_programs, trace.table), rows)), rows):
        if chosen:
            totals: dict[int, float] = {}
            for row in chosen:
                name = trace.table.name[row]
                totals[name] = totals.get(name, 0.0) + times[row]
            most = max(totals, key=totals.__getitem__)
            return max(
                (row for row in chosen if trace.table.name[row] == most), key=times.__getitem__
            )
    return None


def _work_times(table: Table) -> list[float]:
    """The time of every row in microseconds: device time if any row has some, else self time."""
    if table.kernels.by_op:
        return [kernel_time(table, row) for row in range(len(table))]
    return _own_times(table)


def _own_times(table: Table) -> list[float]:
    """The self time of every row in microseconds."""
    times = list(table.duration[: len(table)])
    for row, parent in enumerate(table.parent[: len(times)]):
        if parent >= 0:
            times[parent] -= table.duration[row]
    return times


def _is_programs(table: Table, row: int) -> bool:
    """Whether a row is an ATen operator that the program itself called."""
    is_run = table.phase[row] != COMPILE
    return is_run and table.name_of(row).startswith("aten::") and table.enclosing_print(row) < 0


Key = Callable[[int], tuple[str, str]]
"""The name of a row's group and the filter term for it."""

_COMPILING = ("(compiling)", "phase:compile")


def group_key(trace: Trace, by: GroupBy) -> Key:
    """Maps a row to its group; not for device kernels."""
    table = trace.table

    def operator(row: int) -> tuple[str, str]:
        printing = table.enclosing_print(row)
        if printing >= 0:
            return "(printing tensors)", f"op:{table.name_of(printing)}"
        label = table.label(table.name[row])
        return label, f"op:{label}"

    def module(row: int) -> tuple[str, str]:
        name = table.modules[table.module[row]] if table.module[row] >= 0 else ""
        return (name, f"module:{name}") if name else ("(outside of any module)", "no:module")

    def line(row: int) -> tuple[str, str]:
        stack = table.stack[row]
        place = str(table.stacks[stack].location or "") if stack >= 0 else ""
        return (place, f"line:{place}") if place else ("(no line)", "no:line")

    def node(row: int) -> tuple[str, str]:
        name = trace.op(table.node[row]).node if table.node[row] >= 0 else None
        return (name, f"node:{name}") if name else ("(forward)", "no:node")

    keys: dict[GroupBy, Key] = {"operator": operator, "module": module, "line": line, "node": node}
    return lambda row: _COMPILING if table.phase[row] == COMPILE else keys[by](row)


def _is_inside(trace: Trace, row: int, name: str, key: Key) -> bool:
    """Whether a row is nested in another one of its group."""
    above = (one for one in trace.table.ancestors(row) if trace.table.kind[one] in _TIMED)
    return any(key(one)[0] == name for one in above)


def _kernels(trace: Trace) -> list[Group]:
    groups: dict[str, Group] = {}
    for kernel in trace.kernels():
        group = groups.setdefault(kernel.name, Group(kernel.name))
        group.count += 1
        group.total_us += kernel.duration_us
        group.own_us += kernel.duration_us
    return sorted(groups.values(), key=lambda group: -group.own_us)
