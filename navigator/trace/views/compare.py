"""Differences between two traces by operator, line and module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from navigator.trace.figures.steps import steps_of
from navigator.trace.groups import Group, GroupBy, gather
from navigator.trace.trace import Trace
from navigator.trace.views.view import Column, View
from navigator.trace.wording import duration

_BY: tuple[GroupBy, ...] = ("operator", "line", "module")
_NEW, _GONE = "new", "gone"


def compare_views(before: Trace, after: Trace) -> Iterator[View]:
    """Tables of operators, lines and modules: new and removed ones first, then by change. The
    traces may have different formats."""
    for by in _BY:
        rows = [_row(by, *pair) for pair in _pairs(before, after, by)]
        rows.sort(key=lambda row: (not row["status"], -_weight(row)))
        yield View(
            "compare",
            f"difference by {by}",
            _columns(before, after, by),
            rows,
            tuple(_notes(before, after)) if by == _BY[0] else (),
        )


def _columns(before: Trace, after: Trace, by: GroupBy) -> tuple[Column, ...]:
    """Kernels only if one of the traces has any."""
    kernels = (
        Column("kernel_us", "kernels", "us"),
        Column("kernel_before_us", "before", "us"),
        Column("kernel_change_us", "change", "us"),
    )
    return (
        Column("status", ""),
        Column("count", "calls", "count"),
        Column("count_before", "before", "count"),
        Column("own_us", "self", "us"),
        Column("own_before_us", "before", "us"),
        Column("own_change_us", "change", "us"),
        *(kernels if len(before.table.kernels) or len(after.table.kernels) else ()),
        Column(by, by),
    )


def _pairs(
    before: Trace, after: Trace, by: GroupBy
) -> Iterator[tuple[str, Group | None, Group | None]]:
    """Groups of the same name in both traces; None if missing in one."""
    old, new = _groups(before, by), _groups(after, by)
    for name in dict.fromkeys((*new, *old)):
        yield name, old.get(name), new.get(name)


def _groups(trace: Trace, by: GroupBy) -> dict[str, Group]:
    groups = gather(trace, by)
    return {_name(trace, group.name) if by == "line" else group.name: group for group in groups}


def _name(trace: Trace, place: str) -> str:
    """A line by its path relative to the program's folder, which may differ between runs."""
    path, _, line = place.rpartition(":")
    inside = path and trace.meta.cwd and PurePath(path).is_relative_to(trace.meta.cwd)
    return f"{PurePath(path).relative_to(trace.meta.cwd)}:{line}" if inside else place


def _row(by: GroupBy, name: str, old: Group | None, new: Group | None) -> dict[str, object]:
    one, other = new or Group(name), old or Group(name)
    return {
        "by": by,
        "status": _NEW if old is None else _GONE if new is None else "",
        "count": one.count,
        "count_before": other.count,
        "own_us": one.own_us,
        "own_before_us": other.own_us,
        "own_change_us": one.own_us - other.own_us,
        "kernel_us": one.kernel_us,
        "kernel_before_us": other.kernel_us,
        "kernel_change_us": one.kernel_us - other.kernel_us,
        by: name,
        "term": one.term or other.term,
    }


def _weight(row: dict[str, object]) -> float:
    """The larger of the two changes."""
    return max(abs(float(str(row[key]))) for key in ("own_change_us", "kernel_change_us"))


def _notes(before: Trace, after: Trace) -> Iterator[str]:
    for title, trace in (("before", before), ("after", after)):
        groups, steps = gather(trace, "operator"), steps_of(trace).found
        count, time = sum(group.count for group in groups), sum(one.own_us for one in groups)
        kernels = sum(trace.table.kernels.duration)
        device = f", kernels {duration(kernels)}" if kernels else ""
        turns = f", {len(steps)} steps" if steps else ""
        yield f"{title}: {trace.meta.path}"
        yield f"  {count:,} calls, self time {duration(time)}{device}{turns}"
