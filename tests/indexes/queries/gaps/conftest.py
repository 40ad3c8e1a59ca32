"""A tree with two new operators: ``lonely`` lacks all that can be lacking, ``whole`` nothing.

Beside them stand operators that lack as much and are no gaps: internal ones, backwards, such
as PyTorch ignores."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.queries.gaps.find import find_gaps
from indexes.queries.gaps.kinds import ALL
from indexes.queries.gaps.model import GapFilter, GapList
from indexes.queries.index import Index
from tests.indexes.queries.gaps.grown_files import (
    write_checks,
    write_docs,
    write_expectations,
    write_tests,
)
from tests.indexes.queries.gaps.grown_operators import write_operators, write_python
from tests.indexing import nearby, opened
from tests.tree_marks import TREE


@pytest.fixture(scope="session")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The index of the tree with the two operators."""
    root = Path(shutil.copytree(TREE, tmp_path_factory.mktemp("gaps") / "pytorch"))
    write_operators(root)
    write_python(root)
    write_tests(root)
    write_checks(root)
    write_docs(root)
    write_expectations(root)
    cache = nearby(tmp_path_factory.mktemp("gaps-index"), tmp_path_factory)
    with opened(root, cache) as index:
        yield index


@pytest.fixture(scope="session")
def answer(grown: Index) -> GapList:
    """All gaps of that tree."""
    return find_gaps(grown, GapFilter(ALL))
