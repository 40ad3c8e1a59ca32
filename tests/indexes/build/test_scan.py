"""Files read in reader processes: the same facts as here, and a plain word when one dies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from indexes.build import scan
from indexes.build.scan import FileRows, read_files, reading_order
from indexes.model.errors import Cancelled, SourceError
from indexes.source.walk import SourceFile, walk

_TREE = Path(__file__).parents[2] / "tree"


@pytest.fixture(params=["fork", "spawn", None], autouse=True)
def processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether there are reader processes. The test's own process may have threads, which wait
    for messages and hold no lock."""
    monkeypatch.setattr(scan, "_method", lambda: request.param)
    return bool(request.param)


def _files(root: Path) -> list[SourceFile]:
    return [f for f in walk(str(root), "checkout") if f.kind in ("cpp", "python", "test")]


def _read(root: Path, files: list[SourceFile]) -> dict[str, FileRows]:
    """What is kept of files, each with the number 1."""
    numbered = [(1, file) for file in reading_order(files)]
    return {one.path: one for one in read_files((str(root), ()), numbered, lambda: False)}


def test_processes_read_what_this_process_reads() -> None:
    files = _files(_TREE)
    parallel = _read(_TREE, files)
    here = {path: one for f in files for path, one in _read(_TREE, [f]).items()}
    assert len(files) > 100
    assert parallel == here


def test_facts_come_in_the_same_order_however_fast_the_processes_are() -> None:
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
    (problem,) = read["aten/a\nb\x0b 7.cpp"].problems
    assert "No such file" in problem.message
    (definition,) = read["aten/a\nb\x0b 8.cpp"].rows["definitions"]
    assert "f8" in definition


def _die(*_: object) -> FileRows:
    os._exit(9)


def test_a_reader_that_dies_is_an_error_in_one_line(
    monkeypatch: pytest.MonkeyPatch, processes: bool
) -> None:
    if not processes:
        pytest.skip("there is no other process that could die")
    monkeypatch.setattr(scan, "read_rows", _die)
    with pytest.raises(SourceError, match="a reader process failed: ") as error:
        _read(_TREE, _files(_TREE))
    assert "\n" not in str(error.value)


def test_a_reader_that_fails_costs_that_file_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(scan, "read_cpp", fail)
    (tmp_path / "aten").mkdir()
    (tmp_path / "aten/a.cpp").write_text("int f() { return 1; }\n")
    read = _read(tmp_path, _files(tmp_path))
    (problem,) = read["aten/a.cpp"].problems
    assert problem.message == "the cpp reader failed: ZeroDivisionError: on purpose"


def test_cancelled_while_reading() -> None:
    files = list(enumerate(_files(_TREE)))
    with pytest.raises(Cancelled):
        list(read_files((str(_TREE), ()), files, lambda: True))
