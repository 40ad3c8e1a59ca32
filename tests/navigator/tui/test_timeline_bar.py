"""The totals above a trace."""

from __future__ import annotations

from textual.app import App, ComposeResult

from navigator.trace.timeline import Timeline
from navigator.tui.trace.timeline_bar import TimelineBar


class _Alone(App[None]):
    def compose(self) -> ComposeResult:
        yield TimelineBar()


async def test_totals_of_a_run_that_goes_on_say_so() -> None:
    timeline = Timeline(0.0, 1e6, ((1e5, 0.0, 0.0, 0.0),), ())
    async with _Alone().run_test() as pilot:
        bar = pilot.app.query_one(TimelineBar)
        bar.show(timeline, is_whole=False)
        assert "of 1.00s so far" in bar.render().plain
        bar.show(timeline, is_whole=True)
        assert bar.render().plain.splitlines()[0].endswith("of 1.00s")
