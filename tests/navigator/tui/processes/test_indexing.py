"""An index brought up to date by a process beside the screen, and every way for that to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.model.errors import Cancelled, Progress, SourceError
from indexes.queries.index import Index
from indexes.source.source import Source
from navigator.tui.processes.indexing import refresh_index
from navigator.tui.session import Opener
from tests.navigator.tui.conftest import PATIENCE, Ahead, Sit
from tests.tree_marks import TREE

pytestmark = pytest.mark.skipif(
    not os.path.isdir("/proc/self"), reason="children are told by /proc"
)

SCREEN = """\
import sys
from pathlib import Path
from indexes.source.source import Source
from navigator.tui.processes.indexing import refresh_index
if __name__ == "__main__":
    refresh_index(Source.find(sys.argv[1]), Path(sys.argv[2]),
                  lambda now: print(now.stage, flush=True), lambda: False)
"""


def never() -> bool:
    return False


def ignored(_: object) -> None:
    pass


def workers_of(parent: int) -> list[int]:
    """The processes that work for a process, without the one for all screens of the tests."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[1]) == parent and fields[0] != "Z" and b"spawn_main" in _command(folder):
            found.append(int(folder.name))
    return [process for process in found if process not in Ahead.processes()]


def is_running(process: int) -> bool:
    return b"spawn_main" in _command(Path(f"/proc/{process}"))


def _command(folder: Path) -> bytes:
    try:
        return (folder / "cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


def until(so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_it_makes_the_index_and_tells_how_far_it_is(tmp_path: Path) -> None:
    source, stages = Source.find(str(TREE)), []
    report = refresh_index(source, tmp_path, lambda now: stages.append(now.stage), never)
    assert report.cold
    assert report.read > 50
    assert stages[0] == "reading"
    assert Index.as_left(source, tmp_path).summary("mul.out") is not None
    assert not refresh_index(source, tmp_path, ignored, never).cold


def test_it_stops_when_told_to_and_leaves_nothing(tmp_path: Path) -> None:
    told: list[Progress] = []
    with pytest.raises(Cancelled, match="nothing was changed"):
        refresh_index(Source.find(str(TREE)), tmp_path, told.append, lambda: bool(told))
    assert workers_of(os.getpid()) == []
    assert list((tmp_path / "indexes").iterdir()) == []


def test_a_read_only_cache_is_told_as_ever(tmp_path: Path) -> None:
    (tmp_path / "indexes").touch()  # no folder can be made there, whoever asks
    with pytest.raises(SourceError, match="choose another with --cache or TORCHNAV_CACHE"):
        refresh_index(Source.find(str(TREE)), tmp_path, ignored, never)


def test_when_it_is_killed_the_index_is_made_here(tmp_path: Path) -> None:
    lines: list[str] = []

    def kill(_: Progress) -> None:
        for worker in workers_of(os.getpid()) if not lines else ():  # then they are others
            os.kill(worker, signal.SIGKILL)

    opener = Opener(str(TREE), tmp_path)
    sessions = list(opener.sessions(kill, never, lines.append))
    assert [type(session.index).__name__ for session in sessions] == ["Preview", "Index"]
    assert len(lines) == 1
    assert lines[0].startswith("the indexing process failed (")


def test_it_ends_with_the_screen_however_that_ended(tmp_path: Path) -> None:
    script = tmp_path / "screen.py"
    script.write_text(SCREEN)
    with subprocess.Popen(
        [sys.executable, str(script), str(TREE), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TREE.parents[1])},
    ) as screen:
        assert screen.stdout is not None
        assert screen.stdout.readline() == "reading\n"
        workers = workers_of(screen.pid)
        assert workers
        screen.kill()
    until(lambda: not any(map(is_running, workers)))
    assert not list((tmp_path / "indexes").glob("*.building"))


async def test_it_ends_when_the_screen_is_left(sit: Sit, tmp_path: Path) -> None:
    async with sit(cache=tmp_path) as person:
        await person.until(lambda: workers_of(os.getpid()), "the process")
    until(lambda: not workers_of(os.getpid()))
    assert not list((tmp_path / "indexes").glob("*.building"))


def test_where_no_process_can_be_started_the_thread_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr("navigator.tui.processes.indexing.start_workers", fail)
    told: list[str] = []
    *_, last = Opener(str(TREE), tmp_path).sessions(ignored, never, told.append)
    assert isinstance(last.index, Index)
    assert last.index.report.cold
    assert told == ["the indexing process failed (no more processes); indexing here instead"]
