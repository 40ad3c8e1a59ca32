"""Indexes of the installed torch and of tests/tree, built once for all tests."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.query import Index
from indexes.source import Source, installed_torch

TREE = Path(__file__).parents[1] / "tree"


@pytest.fixture(scope="session")
def wheel_index(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A cache folder that holds an index of the wheel."""
    torch = installed_torch()
    assert torch
    return _index(torch.root, tmp_path_factory)


@pytest.fixture(scope="session")
def small_tree(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The options by which a command answers from ``tests/tree``, whose index is built."""
    return ("--tree", str(TREE), "--cache", _index(TREE, tmp_path_factory))


def _index(root: Path, factory: pytest.TempPathFactory) -> str:
    """A cache folder with the index of a tree, shared by the test processes."""
    base = factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    with _only_one(shared / "index.lock"):
        Index.open(Source.find(str(root)), shared / "index").close()
    return str(shared / "index")


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


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty current folder, with no tree and no cache in the environment."""
    monkeypatch.delenv("TORCHNAV_CHECKOUT", raising=False)
    monkeypatch.setenv("TORCHNAV_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "nowhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder
