"""Tables of traces, and the names of the views above them."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from navigator.trace.views import Column, View
from navigator.tui.trace.view_table import fit, fitted, sheet_of
from navigator.tui.trace.view_tabs import ViewTabs

COLUMNS = (Column("us", "time", "us"), Column("path", "file"), Column("name", "name"))
ROWS = [
    {"us": 12.5, "path": "a/very/long/path/to/a/file.py:12", "name": "aten::add.Tensor"},
    {"us": 3_000, "path": "b.py:1", "name": None},
]
SHEET = sheet_of(View("v", "v", COLUMNS, ROWS))


def test_text_gives_way_and_numbers_stay_whole() -> None:
    assert fitted(SHEET, 200) == [6, 32, 16]
    narrow = fitted(SHEET, 40)
    assert sum(narrow) + 4 == 40
    assert narrow[0] == 6


def test_bars_only_where_there_is_room() -> None:
    assert fit(SHEET, 100).bar > 0
    assert fit(SHEET, 60).bar == 0


def test_words_choose_among_rows() -> None:
    assert [row["us"] for row in sheet_of(SHEET.view, "ADD file").rows] == [12.5]
    assert sheet_of(SHEET.view, "b.py").cells == [["3.0ms", "b.py:1", "-"]]


class _Tabs(App[None]):
    def compose(self) -> ComposeResult:
        yield ViewTabs("v")


@pytest.mark.parametrize("width", [20, 40, 200])
async def test_the_shown_view_is_always_among_the_tabs(width: int) -> None:
    names = ["tree", "flat", "lanes", "operator", "module", "memory", "collectives"]
    async with _Tabs().run_test(size=(width, 5)) as pilot:
        tabs = pilot.app.query_one(ViewTabs)
        for name in names:
            tabs.show(names, name)
            text = tabs.render().plain
            assert name in text
            assert len(text) <= width
            whole = all(one in text for one in names)
            assert whole != ("‹" in text or "›" in text), "what is left out is pointed at"
