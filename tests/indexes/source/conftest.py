from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tree in the environment, the current folder or the cache."""
    monkeypatch.delenv("TORCHNAV_CHECKOUT", raising=False)
    monkeypatch.setenv("TORCHNAV_CACHE", str(tmp_path / "cache"))
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
