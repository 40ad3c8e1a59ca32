"""How two traces differ."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navigator.cli.main import main
from navigator.trace.groups import gather
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from navigator.trace.views.compare import compare_views
from navigator.trace.wording import duration
from tests.navigator.trace.conftest import TRACES
from tests.navigator.trace.made import kernel, launch, made, op

BERT = [str(TRACES / f"{device}-bert-small.json.gz") for device in ("mi300", "h100")]


def test_what_is_new_or_gone_comes_first(tmp_path: Path) -> None:
    old = [op("aten::mul", 0, 10), launch(1, 1), kernel("k", 5, 40, 1), op("aten::neg", 20, 1)]
    old += [op("aten::sum", 30, 100)]
    new = [op("aten::mul", 0, 11), launch(1, 1), kernel("k", 5, 10, 1), op("aten::exp", 20, 2)]
    new += [op("aten::sum", 30, 75), op("aten::sum", 110, 5)]
    traces = made(tmp_path, old, name="old.json"), made(tmp_path, new, name="new.json")
    view = next(compare_views(*traces))
    found = [(row["status"], row["operator"]) for row in view.rows]
    assert found == [
        ("new", "aten::exp"),
        ("gone", "aten::neg"),
        ("", "aten::mul"),
        ("", "aten::sum"),
    ]
    mul, sum_ = view.rows[2:]
    assert (mul["own_change_us"], mul["kernel_change_us"]) == (1, -30)
    assert (sum_["count"], sum_["count_before"], sum_["own_change_us"]) == (2, 1, -20)
    assert "kernels" in [column.title for column in view.columns]
    assert duration(-20) == "-20.0us"


def test_a_trace_and_itself_do_not_differ(step: Trace) -> None:
    for view in compare_views(step, step):
        assert view.rows
        assert not any(row["status"] or row["own_change_us"] for row in view.rows)


def test_lines_of_two_folders_are_the_same(step: Trace) -> None:
    """Each under the path from the folder that its program ran in."""
    _, lines, _ = compare_views(step, step)
    names = [str(row["line"]) for row in lines.rows]
    assert sum(name.startswith("program.py:") for name in names) > 5
    assert not any(name.startswith(step.meta.cwd) for name in names)


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "--compare", *BERT]) == 0
    out = capsys.readouterr().out
    for by in ("operator", "line", "module"):
        assert f"difference by {by}" in out
    assert "more: --full" in out
    assert main(["trace", "--compare", *BERT, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for path, key in zip(BERT, ("count_before", "count"), strict=True):
        counted = sum(group.count for group in gather(read_trace(Path(path)), "operator"))
        assert sum(row[key] for row in rows if row["by"] == "operator") == counted
    assert {row["status"] for row in rows} <= {"", "new", "gone"}


def test_it_runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "program.py"
    script.write_text("raise SystemExit(3)")
    assert main(["trace", "--compare", *BERT, str(script)]) == 2
    assert main(["trace", "--compare", BERT[0], str(tmp_path / "none")]) == 2
    assert "no such file" in capsys.readouterr().err
    assert main(["trace", "--json", str(script)]) == 2
