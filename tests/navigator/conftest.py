"""What commands answer from, and the compiled recorder, built once for all tests."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.indexing import kept_folder, shared_cache
from tests.navigator.trace.programs import RECORDER
from tests.tree_marks import TREE


@pytest.fixture(scope="session")
def small_tree(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The options by which a command answers from ``tests/tree``, whose index is built."""
    return ("--tree", str(TREE), "--cache", str(shared_cache(TREE, tmp_path_factory)))


@pytest.fixture(scope="session")
def library(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The compiled recorder, built once for its source, torch and Python."""
    if shutil.which("g++") is None and shutil.which("clang++") is None:
        pytest.skip("no C++ compiler")
    folder = str(kept_folder("native", pytestconfig, tmp_path_factory))
    command = [sys.executable, str(RECORDER.with_name("build.py")), folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout))


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
