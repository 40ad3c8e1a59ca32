"""The pages in docs/labs are those of the labs as they are: narration, code, claims, links.

What a lab prints may differ from run to run; ``python docs/make_labs.py`` runs all and writes
the pages.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from indexes.queries.index import Index
from indexes.source.torch_install import installed_torch
from navigator.labs.cells import Cell, Lab, all_labs
from navigator.labs.report import LabReport, links
from navigator.labs.running import CellRun, LabRun
from navigator.text.labs import lab_page

PAGES = Path(__file__).parents[3] / "docs" / "labs"
VERSION = "2.13.0"
MACHINE = ("/site-packages/", "/tmp/", "/home/", "/root/")
"""What shows that a path of the machine went into a page."""


BUILD = re.compile(rf"(?<={re.escape(VERSION)})\+\w+")
"""The build of torch: ``+cpu``, ``+cu130``, or none."""


def static(lines: list[str]) -> list[str]:
    """The lines of a page without what was printed, without blank lines and the build of torch."""
    found, inside = [], False
    for line in lines:
        if line == "```text":
            inside = True
        if not inside and line:
            found.append(BUILD.sub("", line))
        if line == "```":
            inside = False
    return found


def as_run(cell: Cell) -> CellRun:
    """As on a machine with all but a GPU."""
    skipped = "needs CUDA" if "CUDA" in cell.needs else ""
    return CellRun(checked=tuple(claim.line for claim in cell.claims), skipped=skipped)


@pytest.mark.parametrize("one", all_labs(), ids=lambda one: one.name)
def test_a_page_is_in_step_with_its_lab(one: Lab, wheel: Index) -> None:
    torch = installed_torch()
    if torch is None or not torch.version.startswith(VERSION):
        pytest.skip(f"the pages are of torch {VERSION}")
    code = {at: as_run(cell) for at, cell in enumerate(one.cells) if not cell.is_markdown}
    run = LabRun(torch.version, code)
    report = LabReport(one, links(one, wheel), wheel.info, run)
    written = (PAGES / f"{one.name}.md").read_text(encoding="utf-8").splitlines()

    assert static(written) == static("\n".join(lab_page(report)).splitlines())
    assert not [line for line in written if any(path in line for path in MACHINE)]


def test_there_is_a_page_for_each_lab_and_no_other() -> None:
    names = {f"{one.name}.md" for one in all_labs()}
    assert {path.name for path in PAGES.glob("*.md")} == {*names, "README.md"}
    listed = (PAGES / "README.md").read_text(encoding="utf-8")
    assert [one.name for one in all_labs() if f"({one.name}.md)" not in listed] == []
