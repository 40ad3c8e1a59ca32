from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def cache(near_cache: Path) -> Path:
    return near_cache
