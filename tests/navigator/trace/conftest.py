"""Recordings that several tests look at, each made once."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from navigator.tui.session import Opener
from tests.indexing import made_once
from tests.navigator.trace.programs import MIXED, STEP, run

TRACES = Path(__file__).parents[2] / "data" / "traces"


@pytest.fixture(scope="session")
def step_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a transformer training step was recorded."""

    def record(folder: Path) -> None:
        done = run(folder, STEP, str(folder / "own.json"))
        assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr

    return made_once("step", tmp_path_factory, record)


@pytest.fixture(scope="session")
def step(step_folder: Path) -> Trace:
    return read_trace(step_folder / "trace.json")


@pytest.fixture(scope="session")
def own_profile(step_folder: Path) -> Counter[str]:
    """What the program counted with a torch.profiler of its own: event -> calls."""
    return Counter(json.loads((step_folder / "own.json").read_text()))


@pytest.fixture(scope="session")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """Custom functions, checkpointing, autocast, vmap, compile, threads, layouts, hooks."""

    return read_trace(made_once("mixed", tmp_path_factory, recorded_mixed) / "trace.json")


@pytest.fixture(scope="session")
def compiled_mixed(library: str, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """The same by the compiled recorder."""
    record = partial(recorded_mixed, options=("--native", library))
    return read_trace(made_once("compiled-mixed", tmp_path_factory, record) / "trace.json")


def recorded_mixed(folder: Path, options: tuple[str, ...] = ()) -> None:
    done = run(folder, MIXED, options=options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "Counter()", "Dynamo broke a graph"


@pytest.fixture(scope="session", params=sorted(p.name for p in TRACES.glob("*.gz")))
def profile_file(request: pytest.FixtureRequest) -> Path:
    """A profile of a real GPU run, recorded by others."""
    return TRACES / str(request.param)


@pytest.fixture
def opener(small_tree: tuple[str, ...], wheel_cache: str) -> Opener:
    assert wheel_cache == small_tree[3]
    return Opener(small_tree[1], Path(small_tree[3]))
