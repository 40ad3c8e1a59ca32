"""Somebody looks at a trace on the screen as tables and lanes."""

from __future__ import annotations

from pathlib import Path

import pytest

from navigator.trace.views import Column, Row, View
from navigator.tui.session import Opener
from navigator.tui.trace.view_tabs import ViewTabs
from tests.navigator.trace.sitting import opened, opens, screen_of, sit


async def test_a_trace_compares_versions_and_turns_its_views_both_ways(
    opener: Opener, step_folder: Path
) -> None:
    async with sit(opener, opened(step_folder / "trace.json"), 200, 50) as person:
        await opens(person)
        await person.sees("d Dispatch path", "V Diff")
        pane = screen_of(person).pane
        await person.presses("v", "v", "v")
        await person.sees("calls  operator")
        await person.presses("alt+v", "alt+v")
        await person.until(lambda: pane.view == "flat" and pane.ops.rows.is_flat)
        await person.until(lambda: person.session is not None, "an index")
        await person.presses("V")
        await person.sees("name a version and press enter")


async def test_tables_open_their_rows(opener: Opener, step_folder: Path) -> None:
    async with sit(opener, opened(step_folder / "trace.json")) as person:
        await opens(person)
        pane = screen_of(person).pane
        at = person.line("tree  flat").index("operator")
        await person.pilot.click(ViewTabs, offset=(at, 0))
        await person.sees("calls  operator", "aten::addmm")
        assert pane.table.has_focus
        await person.presses("enter")
        await person.until(lambda: pane.filter.value.startswith("op:"))
        await person.until(lambda: pane.view == "flat" and pane.ops.has_focus)
        pane.open_view("critical")
        await person.sees("on the path")
        await person.until(lambda: pane.table.current and "kind" in pane.table.current)
        while "op_id" not in (pane.table.current or {}):
            pane.table.action_move(1)
        row = pane.current
        await person.presses("enter")
        await person.until(lambda: pane.view == "tree" and pane.ops.current == row)
        assert pane.ops.has_focus
        assert not pane.filter.value


async def test_any_view_is_a_tab_if_it_has_rows(
    opener: Opener, step_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source.py"
    source.write_text("first\nsecond\n")
    columns = (Column("what", "what"), Column("bytes", "size", "bytes"))
    rows: list[Row] = [
        {"what": "one place", "bytes": 2_000, "path": str(source), "line": 2},
        {"what": "another", "bytes": None},
    ]
    made = View("places", "places", columns, rows, ("two in all",))
    empty = View("nothing", "nothing", columns, [], ())
    views = {"places": lambda *_: made, "nothing": lambda *_: empty}
    monkeypatch.setattr("navigator.tui.trace.pane.VIEWS", views)
    async with sit(opener, opened(step_folder / "trace.json")) as person:
        await opens(person)
        await person.sees_no("nothing")
        pane = screen_of(person).pane
        pane.open_view("places")
        await person.sees("two in all", "what", "size", "one place", "2.0 kB")
        assert person.line("another").split("│")[0].split() == ["another", "-"]
        await person.types("/another")
        await person.sees_no("one place")
        await person.presses("escape", "escape")
        await person.sees("one place")
        await person.presses("enter")
        await person.sees("2▎ second")


async def test_lanes_are_zoomed_and_lead_to_rows(opener: Opener, step_folder: Path) -> None:
    async with sit(opener, opened(step_folder / "trace.json"), 160, 45) as person:
        await opens(person)
        pane = screen_of(person).pane
        hot = pane.ops.current
        await person.presses("v", "v")
        await person.sees("phases", "thread", "CPU idle", "critical path", "on screen")
        lanes = pane.lanes
        await person.until(lambda: lanes.item is not None and lanes.item.row == hot)
        whole = lanes.window
        await person.presses("plus", "plus")
        assert lanes.window[1] - lanes.window[0] == pytest.approx((whole[1] - whole[0]) / 4)
        start, end = lanes.window
        assert start <= lanes.span[0] <= end
        await person.presses("h")
        assert lanes.window[0] == pytest.approx(max(start - (end - start) / 4, whole[0]))
        await person.presses("0")
        assert lanes.window == whole
        await person.presses("right")
        assert lanes.item is not None
        after = lanes.item.row
        assert after != hot
        await person.presses("enter")
        await person.until(lambda: pane.view == "tree" and pane.ops.current == after)
