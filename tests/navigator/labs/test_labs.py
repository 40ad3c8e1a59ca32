"""Every lab, run: each of its claims is checked and holds."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.source.torch_install import installed_torch
from navigator.labs.cells import Lab, all_labs
from navigator.labs.running import run_lab
from tests.indexing import shared_cache

SLOW = ("compiler", "processes")


def params() -> Iterator[object]:
    for one in all_labs():
        slow = any(need in SLOW for need in one.needs)
        yield pytest.param(one, id=one.name, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize("one", params())
def test_every_claim_holds(
    one: Lab, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = installed_torch()
    assert torch
    monkeypatch.setenv("TORCHNAV_CACHE", str(shared_cache(torch.root, tmp_path_factory)))
    run = run_lab(one, sys.executable, str(torch.root))

    errors = [(cell.error_line, cell.error) for cell in run.cells.values() if cell.error]
    assert errors == []
    assert run.ended == ""
    assert run.holds(one)


def test_labs_are_found_beside_the_package() -> None:
    assert all_labs()[0].path == Path(__file__).parents[3] / "labs" / "01_architecture.py"
    assert os.access(all_labs()[0].path, os.R_OK)
