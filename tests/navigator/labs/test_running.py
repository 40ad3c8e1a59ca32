"""Labs run in a process of their own: which claims were checked, what failed, what was left out."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from indexes.model.errors import SourceError
from indexes.queries.index import Index
from navigator.labs.cells import Lab
from navigator.labs.report import LabReport, links
from navigator.labs.running import run_lab
from navigator.text.labs import lab_lines, lab_page
from tests.navigator.labs.made import HEAD, lab


def statuses(made: Lab, index: Index) -> tuple[LabReport, dict[str, str]]:
    report = LabReport(made, links(made, index), index.info, run_lab(made, sys.executable))
    found: dict[str, str] = {
        claim.text: report.status(claim, number)
        for number, cell in enumerate(made.cells)
        for claim in cell.claims
    }
    return report, found


def test_claims_hold_with_what_was_printed(
    tmp_path: Path, tree_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    made = lab(
        tmp_path,
        "# %%\nimport subprocess, sys\nprint('here')\nsubprocess.run([sys.executable, '-c', "
        "'print(5)'])\n\n# %%\nfor _ in range(2):\n    assert __name__ == '__main__', 'twice'\n",
    )
    report, found = statuses(made, tree_index)

    assert report.holds
    assert found == {"twice": "holds"}
    assert report.run
    assert report.run.cells[1].output == "here\n5\n"
    assert report.run.torch_version.startswith("2")
    assert "ok: twice  (07_made.py:14)" in "\n".join(lab_lines(report))


def test_a_claim_that_fails_ends_the_lab_at_its_line(tmp_path: Path, tree_index: Index) -> None:
    made = lab(
        tmp_path,
        "# %%\nassert True, 'first'\nassert 1 == 2, 'second'\nassert True, 'third'\n\n"
        "# %%\nassert True, 'fourth'\n",
    )
    report, found = statuses(made, tree_index)

    assert not report.holds
    assert [*found.values()] == ["holds", "failed", "not reached", "not run"]
    text = "\n".join(lab_lines(report))
    assert "FAILED: second  (07_made.py:9)" in text
    assert "07_made.py:9: AssertionError: second" in text
    assert "- ✗ second" in "\n".join(lab_page(report))


def test_a_claim_that_was_passed_over_is_no_success(tmp_path: Path, tree_index: Index) -> None:
    report, found = statuses(
        lab(tmp_path, "# %%\nif False:\n    assert True, 'never'\n"), tree_index
    )

    assert found == {"never": "not reached"}
    assert not report.holds


def test_a_cell_is_skipped_that_needs_more_than_there_is(tmp_path: Path, tree_index: Index) -> None:
    made = lab(tmp_path, "# %% needs: torch 99.0\nassert False, 'future'\n")
    report, found = statuses(made, tree_index)

    assert found == {"future": "skipped"}
    assert report.holds
    assert "skipped: needs torch 99.0, and this is 2" in "\n".join(lab_lines(report))


def test_a_lab_that_needs_more_is_one_line(tmp_path: Path) -> None:
    made = lab(tmp_path, "# %%\nassert True\n", HEAD + "# needs: torch 99.0\n")
    with pytest.raises(SourceError, match=r"made needs torch 99.0, and this is 2.*; --no-run"):
        run_lab(made, sys.executable)


def test_a_lab_that_crashes_says_how(tmp_path: Path, tree_index: Index) -> None:
    made = lab(tmp_path, "# %%\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    report, _ = statuses(made, tree_index)

    assert not report.holds
    assert "the lab ended early: killed by SIGKILL" in " ".join(lab_lines(report))


def test_processes_that_a_lab_spawns_find_its_functions(tmp_path: Path, tree_index: Index) -> None:
    made = lab(
        tmp_path,
        "# %%\nimport multiprocessing\n\ndef double(x):\n    return 2 * x\n\n# %%\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(2) as pool:\n"
        "        assert pool.map(double, [1, 2]) == [2, 4], 'doubled'\n",
    )
    assert statuses(made, tree_index)[1] == {"doubled": "holds"}


def test_what_a_lab_starts_ends_with_it(tmp_path: Path, tree_index: Index) -> None:
    made = lab(
        tmp_path,
        "# %%\nimport subprocess\nleft = subprocess.Popen(['sleep', '600'])\nprint(left.pid)\n\n"
        "# %%\nassert left.poll() is None, 'it runs'\n",
    )
    report, found = statuses(made, tree_index)

    assert found == {"it runs": "holds"}
    assert report.run
    with pytest.raises(ProcessLookupError):
        _wait_for_end(int(report.run.cells[1].output))


def _wait_for_end(process: int) -> None:
    for _ in range(1200):
        os.kill(process, 0)
        time.sleep(0.1)
