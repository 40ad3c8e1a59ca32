"""What the pane of a trace asks for in threads."""

from __future__ import annotations

from dataclasses import replace

from textual.worker import get_current_worker

from navigator.trace.filters import matching, parse_filter
from navigator.trace.groups import GROUPS, hottest
from navigator.trace.table import OP
from navigator.trace.trace import Trace
from navigator.trace.views import VIEWS, Links, View
from navigator.trace.views.times import time_view
from navigator.tui.trace.view_table import Sheet, sheet_of


def first_look(trace: Trace) -> int | None:
    """The innermost operator in which the program died, or else where the time goes."""
    running = trace.table.unfinished
    return max(running, key=trace.table.start.__getitem__) if running else hottest(trace)


def matched(trace: Trace, text: str, *, only_operators: bool) -> list[int]:
    """The rows that a filter leaves."""
    kinds = trace.table.kind
    rows = matching(trace, parse_filter(text), lambda: get_current_worker().is_cancelled)
    return [row for row in rows if not only_operators or kinds[row] == OP]


def sheet(trace: Trace, name: str, text: str, made: View | None, links: Links) -> Sheet:
    """A view of the rows that a filter leaves; where it is no sum of rows, what of it has the
    filter's words."""
    wanted = parse_filter(text)
    for by in GROUPS:
        if by == name and wanted:
            rows = matching(trace, wanted, lambda: get_current_worker().is_cancelled)
            return sheet_of(time_view(trace, links, by, rows))
    view = made or VIEWS[name](trace, links)
    if wanted.terms:
        note = "the filter applies to rows of the trace, not to this view"
        view = replace(view, notes=(note, *view.notes))
    return sheet_of(view, " ".join(wanted.words))
