"""The tree of a trace below the lines of the program."""

from __future__ import annotations

from itertools import islice

from navigator.trace.trace import Trace
from navigator.tui.trace.rows import TraceRows


def shown(rows: TraceRows) -> list[tuple[int, int, int]]:
    above = [rows.line_above(at) for at in range(len(rows))]
    return list(zip(rows.ids, rows.depths, above, strict=True))


def test_every_row_stands_below_the_line_that_led_to_it(step: Trace) -> None:
    rows = TraceRows(step)
    rows.refresh()
    for one in list(rows.ids)[:40]:
        if one >= 0:
            rows.open_all(one)
    table = step.table
    for at, one in enumerate(rows.ids):
        stack = table.stack[one] if one >= 0 else -1
        location = table.stacks[stack].location if stack >= 0 else None
        if location is not None:
            above = rows.line_above(at)
            line = rows.line(rows.ids[above])
            assert line is not None
            assert line.location == location
            assert above < at
            assert rows.depths[above] < rows.depths[at]


def test_no_row_is_lost(step: Trace) -> None:
    rows = TraceRows(step)
    rows.refresh()
    outermost = [one for one, depth in zip(rows.ids, rows.depths, strict=True) if not depth]
    for one in outermost:
        rows.open_all(one)
    ids = [one for one in rows.ids if one >= 0]
    assert sorted(ids) == [op.id for op in step.ops()]


def test_opening_and_folding_is_as_laying_out_anew(step: Trace) -> None:
    rows = TraceRows(step)
    rows.refresh()
    for _ in range(3):
        for one in islice((one for one in list(rows.ids) if rows.has_children(one)), 0, None, 3):
            if rows.at(one) is not None:
                rows.toggle(one)
    spliced = shown(rows)
    rows.refresh()
    assert spliced == shown(rows)
