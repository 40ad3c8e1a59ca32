"""``torchnav lab``: the list, one lab, its page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navigator.cli.main import main


def test_the_list_is_in_the_order_of_reading(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["1", "architecture"]
    assert any("(needs compiler" in line for line in lines)

    assert main(["lab", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [one["number"] for one in answer["labs"]] == list(range(1, len(lines) + 1))


def test_an_unknown_name_has_near_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "sparce"]) == 1
    assert "near names: sparse" in capsys.readouterr().err


def test_a_lab_that_is_not_run_has_its_links(
    capsys: pytest.CaptureFixture[str], small_tree: tuple[str, ...]
) -> None:
    assert main(["lab", "tensor", "--no-run", "--json", *small_tree]) == 0
    answer = json.loads(capsys.readouterr().out)

    assert answer["holds"] is None
    found = {link["name"]: link for cell in answer["cells"] for link in cell.get("links", [])}
    assert found["c10::TensorImpl"]["path"] == "c10/core/TensorImpl.h"
    claims = [claim for cell in answer["cells"] for claim in cell.get("claims", [])]
    assert {claim["status"] for claim in claims} == {"not run"}


def test_a_lab_runs_and_makes_a_page(
    capsys: pytest.CaptureFixture[str], small_tree: tuple[str, ...], tmp_path: Path
) -> None:
    page = tmp_path / "views.md"
    assert main(["lab", "3", "--markdown", str(page), "--json", *small_tree]) == 0
    answer = json.loads(capsys.readouterr().out)

    assert answer["holds"] is True
    assert answer["torch"].startswith("2")
    assert page.read_text().startswith("# Strides and views\n")


def test_a_page_needs_a_lab_and_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "--markdown", "-"]) == 2
    assert "name it" in capsys.readouterr().err
