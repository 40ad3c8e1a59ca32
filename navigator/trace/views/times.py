"""Views of time by operator, module, line, Node and device kernel."""

from __future__ import annotations

from collections.abc import Iterable

from navigator.trace.groups import GroupBy, gather
from navigator.trace.trace import Trace
from navigator.trace.views.view import Column, Links, View

_DEVICE = Column("kernel_us", "device", "us")
_COLUMNS = (
    Column("own_us", "self", "us"),
    Column("total_us", "total", "us"),
    Column("count", "calls", "count"),
)


def time_view(trace: Trace, _links: Links, by: GroupBy, among: Iterable[int] | None = None) -> View:
    """Groups of rows by device time, then self time, descending; ``among`` restricts the rows."""
    groups = gather(trace, by, among)
    device = (_DEVICE,) if any(one.kernel_us for one in groups) else ()
    rows = [
        {"own_us": one.own_us, "total_us": one.total_us, "count": one.count, by: one.name}
        | ({"kernel_us": one.kernel_us} if device else {})
        | ({"term": one.term} if one.term else {})
        for one in groups
    ]
    return View(by, f"time by {by}", (*device, *_COLUMNS, Column(by, by)), rows)
