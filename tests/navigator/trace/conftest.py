"""Recordings that several tests look at, each made once."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.queries.index import Index
from indexes.source.source import Source
from indexes.source.torch_install import installed_torch
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from navigator.tui.session import Opener
from tests.navigator.trace.programs import MIXED, STEP, run

TRACES = Path(__file__).parents[2] / "data" / "traces"


@pytest.fixture(scope="session")
def step_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a transformer training step was recorded."""
    folder = tmp_path_factory.mktemp("step")
    done = run(folder, STEP, str(folder / "own.json"))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    return folder


@pytest.fixture(scope="session")
def step(step_folder: Path) -> Trace:
    return read_trace(step_folder / "trace.json")


@pytest.fixture(scope="session")
def wheel(wheel_index: str) -> Iterator[Index]:
    """An index of the installed torch."""
    torch = installed_torch()
    assert torch
    index = Index.open(Source.find(str(torch.root)), Path(wheel_index), refresh=False)
    with contextlib.closing(index):
        yield index


@pytest.fixture(scope="session")
def own_profile(step_folder: Path) -> Counter[str]:
    """What the program counted with a torch.profiler of its own: event -> calls."""
    return Counter(json.loads((step_folder / "own.json").read_text()))


@pytest.fixture(scope="session")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """Custom functions, checkpointing, autocast, vmap, compile, threads, layouts, hooks."""
    folder = tmp_path_factory.mktemp("mixed")
    done = run(folder, MIXED)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "Counter()", "Dynamo broke a graph"
    return read_trace(folder / "trace.json")


@pytest.fixture(scope="session", params=sorted(p.name for p in TRACES.glob("*.gz")))
def profile_file(request: pytest.FixtureRequest) -> Path:
    """A profile of a real GPU run, recorded by others."""
    return TRACES / str(request.param)


@pytest.fixture
def opener(small_tree: tuple[str, ...], wheel_index: str) -> Opener:
    assert wheel_index == small_tree[3]
    return Opener(small_tree[1], Path(small_tree[3]))
