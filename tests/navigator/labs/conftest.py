"""The index of the installed torch, opened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes.queries.index import Index
from indexes.source.torch_install import installed_torch
from tests.indexing import opened, shared_cache


@pytest.fixture(scope="session")
def torch_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    torch = installed_torch()
    assert torch
    with opened(torch.root, shared_cache(torch.root, tmp_path_factory)) as index:
        yield index
