"""The tables of a trace."""

from __future__ import annotations

import json

import pytest

from navigator.cli.main import main
from navigator.trace.readers import read_trace
from navigator.trace.views import VIEWS, Column, View, no_links, view_lines
from tests.navigator.trace.conftest import TRACES

BERT = TRACES / "h100-bert-small.json.gz"


def test_text_says_units_and_what_is_left_out() -> None:
    columns = (
        Column("own_us", "self", "us"),
        Column("bytes", "bytes", "bytes"),
        Column("op", "op"),
    )
    rows = [{"own_us": 1.5, "bytes": 2048, "op": "add"}, {"own_us": 2500.0, "op": "mul"}]
    lines = list(view_lines(View("x", "costs", columns, rows, ("of 2 steps",)), most=1))
    assert lines == [
        "costs",
        "of 2 steps",
        " self   bytes  op",
        "1.5us  2.0 kB  add",
        "(1 more: --full)",
    ]


def test_a_view_of_operators_has_the_time_of_the_whole_trace() -> None:
    trace = read_trace(BERT)
    view = VIEWS["operator"](trace, no_links)
    rows = view.rows
    times = [(float(str(row["kernel_us"])), float(str(row["own_us"]))) for row in rows]
    assert times == sorted(times, reverse=True), "of devices first"
    assert view.columns[0].key == "kernel_us"
    assert sum(on_device for on_device, _ in times) > 0
    assert sum(int(str(row["count"])) for row in rows) == sum(
        op.kind in ("op", "node", "region") for op in trace.ops()
    )


def test_views_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "trace", str(BERT), "--view", "kernel", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sum(row["count"] for row in rows) == len(read_trace(BERT).table.kernels)
    assert main(["export", "trace", str(BERT), "--view", "nothing"]) == 2
    assert "there are operator, module" in capsys.readouterr().err
