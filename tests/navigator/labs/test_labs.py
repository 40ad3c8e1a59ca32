"""Every lab, run: each of its claims is checked and holds."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from navigator.labs.cells import Lab, all_labs
from navigator.labs.running import run_lab

SLOW = ("compiler", "processes")


def params() -> Iterator[object]:
    for one in all_labs():
        slow = any(need in SLOW for need in one.needs)
        yield pytest.param(one, id=one.name, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize("one", params())
def test_every_claim_holds(
    one: Lab, torch_root: Path, wheel_cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHNAV_CACHE", wheel_cache)
    run = run_lab(one, sys.executable, str(torch_root))

    errors = [(cell.error_line, cell.error) for cell in run.cells.values() if cell.error]
    assert errors == []
    assert run.ended == ""
    assert run.holds(one)


def test_labs_are_found_beside_the_package() -> None:
    assert all_labs()[0].path == Path(__file__).parents[3] / "labs" / "01_architecture.py"
    assert os.access(all_labs()[0].path, os.R_OK)
