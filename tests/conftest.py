"""What many tests share: real indexes of real trees, each built once, and the command line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from indexes.queries.index import Index
from indexes.source.torch_install import installed_torch
from tests.indexing import kept_folder, nearby, opened, shared_cache
from tests.navigator.trace.programs import RECORDER
from tests.tree_marks import TREE

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_configure() -> None:
    """In the background a shell starts programs deaf to SIGINT, which their children inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def tree() -> Path:
    """The small PyTorch-shaped tree."""
    return TREE


@pytest.fixture
def tree_copy(tmp_path: Path) -> Path:
    """The small tree again, to be spoilt."""
    return Path(shutil.copytree(TREE, tmp_path / "pytorch"))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """An empty cache folder."""
    return tmp_path / "cache"


@pytest.fixture
def near_cache(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder in which an index of a copy of the small tree begins as that of the tree."""
    return nearby(tmp_path / "cache", tmp_path_factory)


@pytest.fixture(scope="session")
def tree_index(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index of the small tree, built from nothing, shared by the test processes."""
    with opened(tree, shared_cache(tree, tmp_path_factory)) as index:
        yield index


@pytest.fixture(scope="session")
def torch_root() -> Path:
    """The folder that the installed torch is in."""
    torch = installed_torch()
    if torch is None:
        pytest.skip("torch is not installed")
    return torch.root


@pytest.fixture(scope="session")
def wheel_cache(
    torch_root: Path, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> str:
    """A cache folder with an index of the installed torch, shared by the test processes."""
    kept = kept_folder("indexes", pytestconfig, tmp_path_factory)
    return str(shared_cache(torch_root, tmp_path_factory, kept))


@pytest.fixture(scope="session")
def wheel(torch_root: Path, wheel_cache: str) -> Iterator[Index]:
    """An index of the installed torch."""
    with opened(torch_root, Path(wheel_cache)) as index:
        yield index


@pytest.fixture(scope="session")
def library(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The compiled recorder, built once for its source, torch and Python."""
    if not _has_compiler():
        pytest.skip("no C++ compiler")
    folder = str(kept_folder("native", pytestconfig, tmp_path_factory))
    command = [sys.executable, str(RECORDER.with_name("build.py")), folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout))


@pytest.fixture(scope="session")
def native(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for a cache with the compiled recorder, if there can be one: ``trace`` builds none
    beside the tests."""
    if not _has_compiler():
        return tmp_path_factory.mktemp("native")
    return Path(request.getfixturevalue("library")).parents[1]


def _has_compiler() -> bool:
    return bool(shutil.which("g++") or shutil.which("clang++"))


@pytest.fixture(scope="session")
def checkout() -> Path:
    """A full PyTorch tree."""
    named = os.environ.get("TORCHNAV_CHECKOUT")
    if not named:
        pytest.skip("needs a PyTorch source tree: set TORCHNAV_CHECKOUT")
    return Path(named).resolve()


@pytest.fixture(scope="session")
def checkout_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the full tree's index is kept: TORCHNAV_CACHE when that is set, so that runs share."""
    named = os.environ.get("TORCHNAV_CACHE")
    return Path(named) if named else tmp_path_factory.mktemp("checkout-index")


@pytest.fixture(scope="session")
def checkout_index(checkout: Path, checkout_cache: Path) -> Iterator[Index]:
    """An index of the full tree."""
    with opened(checkout, checkout_cache) as index:
        yield index


@pytest.fixture
def torchnav(cache: Path) -> Run:
    """Runs the command line as a user does, with a cache of its own: ``torchnav("op", "add")``."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        own = {"TORCHNAV_CACHE": str(cache), **environment}
        inherited = {k: v for k, v in os.environ.items() if k != "TORCHNAV_CHECKOUT"}
        return subprocess.run(
            [sys.executable, "-m", "navigator", *arguments],
            env={**inherited, **own},
            cwd=Path(__file__).parent.parent,
            capture_output=True,
            text=True,
            check=False,
        )

    return run
