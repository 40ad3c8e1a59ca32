"""Recordings that several tests look at, each made once."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.queries.index import Index
from indexes.source.source import Source, installed_torch
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import MIXED, RECORDER, STEP, run

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


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The compiled recorder, built once."""
    if shutil.which("g++") is None and shutil.which("clang++") is None:
        pytest.skip("no C++ compiler")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    command = [sys.executable, str(RECORDER.with_name("build.py")), str(shared / "native")]
    with open(shared / "native.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one worker builds, the others find it
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="session", params=sorted(p.name for p in TRACES.glob("*.gz")))
def profile_file(request: pytest.FixtureRequest) -> Path:
    """A profile of a real GPU run, recorded by others."""
    return TRACES / str(request.param)
