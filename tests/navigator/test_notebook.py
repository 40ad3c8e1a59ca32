"""Notebooks: cells that are executed as somebody's are."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from indexes.model.vocabulary import SourceInfo
from navigator.cli.main import main
from navigator.notebook import command
from navigator.text.html import linked_text
from tests.tree_marks import TREE

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

EXAMPLE = Path(__file__).parents[2] / "examples" / "notebook.ipynb"
MORE = ("x.grad.tolist()", "%torchnav op no_such_name")
"""Cells that are run behind those of the example."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """What each cell showed."""
    cache = tmp_path_factory.mktemp("cache")
    assert main(["--tree", str(TREE), "--cache", str(cache), "index"]) == 0
    notebook = nbformat.read(EXAMPLE, as_version=4)
    notebook.cells += map(nbformat.v4.new_code_cell, MORE)
    environment = {
        **os.environ,
        "TORCHNAV_CHECKOUT": str(TREE),
        "TORCHNAV_CACHE": str(cache),
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]),
    }
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3")
    done = client.execute(cwd=str(Path(__file__).parents[2]), env=environment)
    return [cell.outputs for cell in done.cells if cell.cell_type == "code"]


def html(shown: list[Any]) -> str:
    found = (one.data["text/html"] for one in shown if "text/html" in one.get("data", {}))
    return str(next(found))


def test_an_operator_is_a_table_and_text(outputs: list[list[Any]]) -> None:
    assert "<table>" in html(outputs[1])
    assert "AddBackward0" in html(outputs[1])
    assert "add.Tensor(Tensor self" in outputs[1][0].data["text/plain"]


def test_options_of_the_command_line_count_wherever_they_stand(tmp_path: Path) -> None:
    where = f"--tree {TREE} --cache {tmp_path}"
    for line in (f"op add.Tensor {where}", f"{where} op add.Tensor"):
        shown = command(line)
        assert shown.source is not None
        assert shown.source.root == str(TREE)
        assert shown.card is not None
    for line in (f"op add.Tensor --full {where}", f"op --json add.Tensor {where}", "op --help"):
        assert command(line).card is None


def test_help_is_told_once(capfd: pytest.CaptureFixture[str]) -> None:
    assert command("op --help").text.startswith("Usage: ")
    assert capfd.readouterr() == ("", "")


def test_other_commands_are_text(outputs: list[list[Any]]) -> None:
    assert "calls the stub" in html(outputs[2])
    assert "nothing is named &#x27;no_such_name&#x27;" in html(outputs[7])


def test_a_cell_is_recorded_and_runs_as_always(outputs: list[list[Any]]) -> None:
    assert any(one.get("text", "").strip() == "ran" for one in outputs[3])
    assert "aten::mul" in html(outputs[3])
    assert outputs[6][0].data["text/plain"] == "[2.0, 2.0, 2.0]"


def test_tensors_and_graphs_show_themselves(outputs: list[list[Any]]) -> None:
    assert "storage_offset_" in html(outputs[4])
    assert "MulBackward0" in html(outputs[5])


def test_places_are_links_where_the_commit_is_known_and_text_stays_text() -> None:
    source = SourceInfo(
        kind="checkout", root="/nowhere", version="2.7", commit="0" * 40, dirty=False, missing=()
    )
    text = "<b> aten/src/ATen/a.cpp:12, see x.y:3 and /etc/passwd:1"
    shown = linked_text(text, source)
    assert "&lt;b&gt;" in shown
    assert shown.count("<a href=") == 1
    assert f'pytorch/blob/{"0" * 40}/aten/src/ATen/a.cpp#L12">aten/src/ATen/a.cpp:12</a>' in shown
    assert "<a" not in linked_text(text, None)
