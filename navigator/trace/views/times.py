"""Where time goes, as views: by operator, module, line, Node and device kernel."""

from __future__ import annotations

from collections.abc import Iterable

from navigator.trace.groups import GroupBy, gather
from navigator.trace.trace import Trace
from navigator.trace.views.view import Column, Links, View

_COLUMNS = (
    Column("own_us", "self", "us"),
    Column("total_us", "total", "us"),
    Column("count", "calls", "count"),
)


def time_view(trace: Trace, _links: Links, by: GroupBy, among: Iterable[int] | None = None) -> View:
    """Groups of rows, most self time first; ``among`` limits it to some rows."""
    rows = [
        {"own_us": one.own_us, "total_us": one.total_us, "count": one.count, by: one.name}
        | ({"term": one.term} if one.term else {})
        for one in gather(trace, by, among)
    ]
    return View(by, f"time by {by}", (*_COLUMNS, Column(by, by)), rows)
