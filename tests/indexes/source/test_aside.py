"""Files written aside: whole or not there, and what killed writers leave is cleared away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from indexes.source.aside import clear, left_over, written_aside, written_over

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs locks of files")

WRITER = """\
import sys, time
from pathlib import Path
from indexes.source.aside import written_aside
with written_aside(Path(sys.argv[1])) as aside:
    aside.write_text("half")
    print(aside, flush=True)
    time.sleep(60)
"""


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_a_file_takes_its_place_whole(tmp_path: Path) -> None:
    with written_aside(tmp_path / "index.db") as aside:
        aside.write_text("whole")
        assert len(names(tmp_path)) == 2
        aside.replace(tmp_path / "index.db")
    assert names(tmp_path) == ["index.db"]


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), written_aside(tmp_path / "index.db"):
        raise RuntimeError
    assert names(tmp_path) == []


def test_a_file_is_replaced_where_a_link_leads_and_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    old = tmp_path / "folder" / "report.html"
    old.write_text("old")
    old.chmod(0o640)
    link = tmp_path / "link.html"
    link.symlink_to(old)
    with pytest.raises(FileNotFoundError), written_over(link) as aside:
        aside.rename(tmp_path / "away").rename(tmp_path / "no" / "away")
    assert old.read_text() == "old"
    with written_over(link) as aside:
        aside.write_text("new")
    assert (old.read_text(), old.stat().st_mode & 0o777, link.is_symlink()) == ("new", 0o640, True)
    assert names(tmp_path / "folder") == ["report.html"]


def test_what_is_no_file_is_written_to_as_it_is(tmp_path: Path) -> None:
    with written_over(Path(os.devnull)) as aside:
        assert aside == Path(os.devnull)
    with pytest.raises(FileNotFoundError), written_over(tmp_path / "no" / "report.html"):
        pytest.fail("there is no such folder")
    with written_over(tmp_path / "new.html") as aside:
        pass
    (tmp_path / "plain").touch()
    assert (tmp_path / "new.html").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_what_a_killed_writer_left_is_cleared_and_no_other(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "index.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        aside = Path(writer.stdout.readline().strip())
        journal = Path(f"{aside}-journal")
        journal.write_text("of SQLite")
        assert not left_over(aside)
        clear(tmp_path)
        assert (aside.read_text(), journal.exists()) == ("half", True)
        writer.send_signal(signal.SIGKILL)
    assert left_over(aside)
    (tmp_path / "index.db").write_text("mine")
    clear(tmp_path)
    assert names(tmp_path) == ["index.db"]


def test_without_a_lock_age_tells(tmp_path: Path) -> None:
    for name, age in (("old.building", 48 * 3600), ("new.building", 0)):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    (tmp_path / "gone.building.lock").write_text("")
    clear(tmp_path)
    assert names(tmp_path) == ["new.building"]
