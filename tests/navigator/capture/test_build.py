"""The compiled recorder is built beside a run, which does not wait for it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from navigator.capture.build import Torch, library_path
from tests.navigator.trace.programs import RECORDER, run

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork"),
    pytest.mark.skipif(
        bool(torch.version.cuda or torch.version.hip or torch.version.xpu),
        reason="on devices the profiler is the default",
    ),
]

PROGRAM = """\
import os
import torch
print(float(torch.ones(2).sum()))
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child")
"""
BUILDING = "torchnav: the compiled recorder is being built: the next run uses it\n"
COMPILER = """\
#!/bin/sh
echo called >> {folder}/calls
while [ ! -e {folder}/go ]; do sleep 0.05; done
{then}
"""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes a compiler that waits for a file ``go`` and then runs a line of shell."""

    def make(then: str) -> None:
        script = tmp_path / "compiler"
        script.write_text(COMPILER.format(folder=tmp_path, then=then))
        script.chmod(0o755)
        monkeypatch.setenv("CXX", str(script))

    return make


def recorded(folder: Path) -> subprocess.CompletedProcess[str]:
    done = run(folder, PROGRAM, options=("--native-folder", str(folder / "native")))
    assert (done.returncode, done.stdout) == (0, "2.0\nno child\n"), done.stderr
    return done


def place(folder: Path) -> Path:
    return Path(library_path(str(folder / "native"), Torch.of(torch)))


def appears(path: Path) -> bool:
    deadline = time.monotonic() + 120
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return path.exists()


WRITES = 'while [ "$1" != -o ]; do shift; done; echo library > "$2"'


def test_the_first_run_does_not_wait(tmp_path: Path, compiler: Callable[[str], None]) -> None:
    compiler(WRITES)
    assert recorded(tmp_path).stderr == BUILDING
    assert recorded(tmp_path).stderr == BUILDING, "it goes on after the run, and is not begun twice"
    assert not place(tmp_path).exists()
    (tmp_path / "go").touch()
    assert appears(place(tmp_path))
    assert (tmp_path / "calls").read_text() == "called\n"
    assert BUILDING not in recorded(tmp_path).stderr


def test_a_failure_is_told_once_and_not_repeated(
    tmp_path: Path, compiler: Callable[[str], None]
) -> None:
    compiler("echo 'recorder.cpp:1: error: no such header' >&2; exit 1")
    (tmp_path / "go").touch()
    assert recorded(tmp_path).stderr == BUILDING
    assert appears(place(tmp_path).with_name("failed.txt"))
    calls = (tmp_path / "calls").read_text()
    told = recorded(tmp_path).stderr
    assert told.startswith("torchnav: the compiled recorder could not be built: ")
    assert "error: no such header; torchnav trace --compiled tries again\n" in told
    assert recorded(tmp_path).stderr == ""
    assert (tmp_path / "calls").read_text() == calls


def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, compiler: Callable[[str], None]
) -> None:
    compiler(WRITES)
    (tmp_path / "native").write_text("a file")
    stderr = recorded(tmp_path).stderr
    assert stderr.startswith(f"torchnav: the compiled recorder cannot be built: {tmp_path}/native/")
    assert stderr.endswith(": Not a directory\n")


def test_without_a_compiler_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "/no/such/compiler")
    assert recorded(tmp_path).stderr == ""
    assert not (tmp_path / "native").exists()


def test_who_asks_for_it_without_a_compiler_gets_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", "")
    command = [sys.executable, str(RECORDER.with_name("build.py")), str(tmp_path / "native")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert done.stderr == "there is no C++ compiler: install g++, or name one in CXX\n"
