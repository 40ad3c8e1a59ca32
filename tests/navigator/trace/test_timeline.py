"""Where time goes: by phase and on devices, on the screen and in a notebook."""

from __future__ import annotations

import html.parser

import pytest

from navigator.trace.html_report import notebook_html
from navigator.trace.readers import read_trace
from navigator.trace.table import OP, Table
from navigator.trace.timeline import timeline
from navigator.trace.trace import Trace
from tests.navigator.trace.conftest import TRACES


def trace_of(*spans: tuple[float, float, int]) -> Trace:
    """Operators on one thread: (start, duration, phase)."""
    table = Table()
    name, thread = table.names.number(("aten::<add>", "")), table.threads.number(("1", "1"))
    for start, duration, _ in spans:
        table.append(OP, name, thread, start, duration)
    for row, (_, _, phase) in enumerate(spans):
        table.phase[row] = phase
    table.zero = 0.0
    return Trace(table=table)


def test_time_is_cut_into_parts_by_phase() -> None:
    when = timeline(trace_of((0, 15, 0), (20, 20, 1)), 4)
    assert when.part_us == 10
    assert when.cpu == ((10, 0, 0, 0), (5, 0, 0, 0), (0, 10, 0, 0), (0, 10, 0, 0))
    assert when.totals == (("forward", 15), ("backward", 20))
    assert not when.device


def test_what_another_operator_calls_is_not_counted_again() -> None:
    trace = trace_of((0, 10, 0), (2, 4, 0))
    trace.table.adopt(0, 1)
    assert timeline(trace, 1).cpu == ((10, 0, 0, 0),)


def test_streams_of_a_device_are_counted_once() -> None:
    trace = trace_of((0, 100, 0))
    for start, duration in ((10, 40), (30, 40), (90, 10)):
        trace.table.kernels.append(0, "k", ("0", str(start)), start, duration, 0)
    assert sum(timeline(trace, 7).device) == pytest.approx(70)


def test_a_trace_without_rows_has_no_timeline() -> None:
    assert not timeline(Trace(), 10).cpu
    assert "0 operators" in notebook_html(Trace())


def test_a_real_profile_in_a_notebook() -> None:
    trace = read_trace(TRACES / "h100-bert-small.json.gz")
    when = timeline(trace, 100)
    assert dict(when.totals).keys() == {"forward", "device"}
    assert 0 < sum(when.device) <= when.span_us
    text = trace._repr_html_()
    assert "capture_overload_names" in text
    assert text.count("<svg") == 2
    _Balanced().feed(text)


def test_names_in_a_notebook_are_text() -> None:
    text = notebook_html(trace_of((0, 15, 0)))
    assert "aten::&lt;add&gt;" in text
    assert "<add>" not in text


class _Balanced(html.parser.HTMLParser):
    """Fails for a tag that is closed and was not open."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
