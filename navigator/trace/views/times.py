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
        {"own_us": group.own_us, "total_us": group.total_us, "count": group.count, by: group.name}
        | ({"kernel_us": group.kernel_us} if device else {})
        | ({"term": group.term} if group.term else {})
        for group in groups
    ]
    return View(by, f"time by {by}", (*device, *_COLUMNS, Column(by, by)), rows)
