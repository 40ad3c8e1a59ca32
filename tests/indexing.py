"""Building an index in a test, and what it says as data that can be compared."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexes.query import Index
from indexes.source import Source

Answers = dict[tuple[str, str], tuple[str, ...]]


@contextlib.contextmanager
def opened(tree: Path, cache: Path, **options: Any) -> Iterator[Index]:
    """The index of ``tree``, brought up to date."""
    with contextlib.closing(Index.open(Source.find(str(tree)), cache, **options)) as index:
        yield index


def answers(index: Index) -> Answers:
    """What an index says of every kernel."""
    return {
        (row.op, row.key): (row.symbol, row.kind, *(str(d.location) for d in row.definitions))
        for row in index.kernel_rows()
    }


def shared_cache(root: Path, factory: pytest.TempPathFactory) -> Path:
    """A cache folder with the index of a tree, built once for all test processes."""
    base = factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    with _only_one(shared / "index.lock"), opened(root, shared / "index"):
        return shared / "index"


@contextlib.contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    deadline = time.monotonic() + 300
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            assert time.monotonic() < deadline, "the process that builds the index is stuck"
            time.sleep(0.1)
    try:
        yield
    finally:
        lock.unlink()
