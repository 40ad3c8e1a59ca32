"""Processes that work for another one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from indexes.build.workers import forking, start_workers, working
from indexes.model.errors import SourceError
from tests.tree_marks import TREE

PARENT = """\
import os, sys, time
from contextlib import redirect_stderr
from indexes.build.workers import start_workers, working

class NoFile:
    def fileno(self): return -1

if __name__ == "__main__":
    with redirect_stderr(NoFile()):  # as in a screen of Textual
        workers = start_workers(2)
        print(*{workers.submit(os.getpid).result() for _ in range(8)}, flush=True)
    time.sleep(60)
"""

STOPPED = """\
import multiprocessing, time
from indexes.build import scan
from indexes.model.errors import Cancelled
from indexes.source.walk import SourceFile

def read(places, numbered):
    if numbered[0] >= 24:  # beyond what is handed over at once
        time.sleep(0.5)
        print("read", flush=True)
    return scan.FileRows(numbered[0], numbered[1].path, b"", {}, [])

scan.read_rows = read
files = [(number, SourceFile(f"{number}.cpp", "cpp", 9)) for number in range(200)]
try:
    [*scan.read_files(("", ()), files, lambda: True)]
except Cancelled:
    print(f"stopped, {len(multiprocessing.active_children())} left")
"""


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="states are told by /proc")
def test_they_end_with_their_parent_however_that_ended(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    environment = {**os.environ, "PYTHONPATH": str(TREE.parents[1])}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        workers = [int(word) for word in parent.stdout.readline().split()]
        assert workers
        parent.kill()
    end = time.monotonic() + 120
    while any(map(_is_running, workers)):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="reads in one process")
def test_who_stops_waits_for_what_is_read_and_for_no_more(tmp_path: Path) -> None:
    script = tmp_path / "stopped.py"
    script.write_text(STOPPED)
    environment = {**os.environ, "PYTHONPATH": str(TREE.parents[1])}
    done = subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    *read, last = done.stdout.splitlines()
    assert (last, done.stderr) == ("stopped, 0 left", "")
    assert len(read) < 24, "a worker is given 24 at once"


def _answer_to_interrupt() -> object:
    return signal.getsignal(signal.SIGINT)


def test_an_interrupt_is_for_their_parent() -> None:
    with start_workers() as workers:
        assert workers.submit(_answer_to_interrupt).result() is signal.SIG_IGN


def _forked(done: list[str]) -> None:
    with forking():
        signal.raise_signal(signal.SIGINT)
        done.append("forked")
    done.append("went on")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_an_interrupt_waits_for_the_end_of_a_fork() -> None:
    """Python prints and forgets what is raised in the functions that it calls around a fork."""
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        _forked(done)
    assert done == ["forked"]


def test_a_process_that_dies_is_an_error_in_one_line() -> None:
    with (
        pytest.raises(SourceError, match="a process of the test failed: ") as error,
        working(start_workers(1), "a process of the test") as pool,
    ):
        list(pool.map(os._exit, [9]))
    assert "\n" not in str(error.value)


FEW_FILES = """\
import os, resource
from indexes.build.workers import start_workers, working

workers = start_workers(2, method="fork")
lowest = os.dup(0)
os.close(lowest)
resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 5, lowest + 5))
try:
    with working(workers, "a process") as pool:
        print(*pool.map(abs, range(9)))
except OSError as error:
    print("refused:", error.strerror)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts the descriptors of a fork")
def test_where_a_second_one_cannot_be_started_the_first_ends() -> None:
    command = [sys.executable, "-c", FEW_FILES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "refused: Too many open files\n"
