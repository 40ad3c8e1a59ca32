"""A run as lanes over time."""

from __future__ import annotations

import pytest

from navigator.trace.figures.lanes import Item, Lane, lanes_between, lanes_of
from navigator.trace.readers import read_trace
from navigator.trace.table import OP, Table
from navigator.trace.trace import Trace
from tests.navigator.trace.conftest import TRACES


def lane_of(*spans: tuple[float, float]) -> Lane:
    items = [Item(start, end, at, "", "forward") for at, (start, end) in enumerate(spans)]
    return Lane("a lane", items)


def test_how_busy_a_time_is() -> None:
    lane = lane_of((0, 10), (20, 30), (40, 50))
    assert lane.busy(0, 50) == 30
    assert lane.busy(5, 25) == 10
    assert lane.busy(12, 18) == 0
    assert lane.busy(22, 24) == 2
    assert list(lane.within(10, 20)) == []
    assert list(lane.within(9, 21)) == [0, 1]


@pytest.mark.parametrize(("moment", "number"), [(-5, 0), (5, 0), (13, 0), (17, 1), (99, 2)])
def test_the_span_at_a_moment_or_the_nearest(moment: float, number: int) -> None:
    assert lane_of((0, 10), (20, 30), (40, 50)).at(moment) == number


def test_threads_show_what_calls_what() -> None:
    table = Table()
    outer, inner = (table.names.number((f"aten::{name}", "")) for name in ("outer", "inner"))
    thread = table.threads.number(("1", "7"))
    for name, start, length in ((outer, 0, 10), (inner, 2, 4), (outer, 20, 5)):
        table.append(OP, name, thread, start, length)
    table.adopt(0, 1)
    table.roots += [0, 2]
    table.phase[2] = 1
    found = {(lane.name, lane.depth): lane.items for lane in lanes_of(Trace(table=table))}
    assert [item[:4] for item in found["thread 7", 0]] == [
        (0, 10, 0, "outer"),
        (20, 25, 2, "outer"),
    ]
    assert [item[:4] for item in found["thread 7", 1]] == [(2, 6, 1, "inner")]
    assert [item.label for item in found["phases", 0]] == ["forward", "backward"]
    assert ("thread 7", 2) not in found


def test_a_real_profile_has_streams_and_idle_time() -> None:
    trace = read_trace(TRACES / "h100-bert-small.json.gz")
    lanes = [*lanes_of(trace), *lanes_between(trace)]
    kinds = {lane.name.partition(" ")[0] for lane in lanes}
    assert {"phases", "thread", "critical"} <= kinds
    streams = [lane for lane in lanes if " stream " in lane.name]
    assert sum(len(lane.items) for lane in streams) == len(trace.table.kernels)
    assert any(lane.name.endswith("idle") for lane in lanes)
    for lane in lanes:
        for one, other in zip(lane.items, lane.items[1:], strict=False):
            assert one.end <= other.start


def test_a_trace_without_rows_has_no_lanes() -> None:
    assert lanes_of(Trace()) == lanes_between(Trace()) == []
