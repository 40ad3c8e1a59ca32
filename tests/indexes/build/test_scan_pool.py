"""Files read in child processes: the same facts as here, and a plain word when one dies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from indexes.build import scan_children
from indexes.build.scan_children import reading
from indexes.build.scan_pool import FileFacts
from indexes.model.errors import Cancelled, SourceError
from indexes.source import forked
from indexes.source.walk import SourceFile, walk

_TREE = Path(__file__).parents[2] / "tree"


@pytest.fixture(params=[True, False], ids=["forked", "with threads"], autouse=True)
def forks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the readers are forks of this process. The test's own process may have threads,
    which wait for messages and hold no lock."""
    monkeypatch.setattr(forked, "possible", lambda: request.param)


def _files(root: Path) -> list[SourceFile]:
    return [f for f in walk(str(root), "checkout") if f.kind in ("cpp", "python", "test")]


def _read(root: Path, files: list[SourceFile]) -> dict[str, FileFacts]:
    with reading(str(root), files, lambda: False) as facts:
        return {one.path: one for one in facts}


def test_children_read_what_this_process_reads() -> None:
    files = _files(_TREE)
    parallel = _read(_TREE, files)
    here = {path: one for f in files for path, one in _read(_TREE, [f]).items()}
    assert len(files) > 100
    assert parallel == here


def test_facts_come_in_the_same_order_however_fast_the_children_are() -> None:
    files = _files(_TREE)
    first = list(_read(_TREE, files))
    assert first == list(_read(_TREE, files[::-1]))
    assert len(first) == len(files)


def test_odd_names_are_read_and_absent_files_are_problems(tmp_path: Path) -> None:
    folder = tmp_path / "aten"
    folder.mkdir()
    for number in range(30):
        (folder / f"a\nb\x0b {number}.cpp").write_text(f"int f{number}() {{ return 1; }}\n")
    files = _files(tmp_path)
    (folder / "a\nb\x0b 7.cpp").unlink()
    read = _read(tmp_path, files)
    assert len(read) == 30
    absent = read["aten/a\nb\x0b 7.cpp"]
    assert "No such file" in absent.problems[0][1]
    assert read["aten/a\nb\x0b 8.cpp"].defined.names() == {"f8"}


def test_a_reader_that_dies_is_an_error_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the reader is broken")

    monkeypatch.setattr(scan_children, "serve", broken)
    monkeypatch.setattr(scan_children, "_START", "raise RuntimeError('the reader is broken')")
    with pytest.raises(SourceError, match=r"a reader process failed: .* the reader is broken"):
        _read(_TREE, _files(_TREE))


def test_readers_that_nobody_asks_are_stopped_and_their_pipes_closed() -> None:
    files = _files(_TREE)
    opened = len(os.listdir("/dev/fd"))
    with reading(str(_TREE), files, lambda: False):
        assert len(os.listdir("/dev/fd")) > opened
    assert len(os.listdir("/dev/fd")) == opened


def test_cancelled_while_reading() -> None:
    files = _files(_TREE)
    with pytest.raises(Cancelled), reading(str(_TREE), files, lambda: True) as facts:
        list(facts)
