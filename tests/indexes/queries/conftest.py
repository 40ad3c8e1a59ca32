from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexing import nearby


@pytest.fixture
def cache(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder in which an index of a copy of the small tree begins as that of the tree."""
    return nearby(tmp_path / "cache", tmp_path_factory)
