"""Plans are made in the tree of the gaps."""

from __future__ import annotations

import pytest

from indexes.queries.changes.planning import Changes
from indexes.queries.index import Index
from tests.indexes.queries.gaps.conftest import answer, grown

__all__ = ["answer", "changes", "grown"]


@pytest.fixture(scope="session")
def changes(grown: Index) -> Changes:
    return Changes(grown)
