"""What commands answer from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexing import shared_cache
from tests.tree_marks import TREE


@pytest.fixture(scope="session")
def small_tree(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The options by which a command answers from ``tests/tree``, whose index is built."""
    return ("--tree", str(TREE), "--cache", str(shared_cache(TREE, tmp_path_factory)))


@pytest.fixture
def cache(near_cache: Path) -> Path:
    return near_cache


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty current folder, with no tree and no cache in the environment."""
    monkeypatch.delenv("TORCHNAV_CHECKOUT", raising=False)
    monkeypatch.setenv("TORCHNAV_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "nowhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder
