from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.queries.index import Index
from tests.indexes.linking.edges.reading import EDGES
from tests.indexing import nearby, opened
from tests.tree_marks import TREE


@pytest.fixture(scope="package")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The small tree with the files of ``tests/data/edges``."""
    root = Path(shutil.copytree(TREE, tmp_path_factory.mktemp("edges") / "pytorch"))
    shutil.copytree(EDGES, root, dirs_exist_ok=True)
    with opened(root, nearby(tmp_path_factory.mktemp("edges-cache"), tmp_path_factory)) as index:
        yield index
