"""What counts as unchanged: one pass of stats must see every change, and cost nothing else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.model.errors import SourceError
from indexes.queries.index import Index
from indexes.queries.indexed_tree import unchanged
from indexes.source.snapshot import TreeSnapshot, snapshot_file
from indexes.source.source import Source
from tests.indexing import build, build_near, opened
from tests.repositories import begin, commit
from tests.tree_marks import NATIVE

LONG_AGO = 1_600_000_000
KERNEL = NATIVE + "BinaryOps.cpp"
needs_git = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


def _age(tree: Path) -> None:
    """As if nothing was written lately."""
    for folder, _, names in os.walk(tree):
        for name in names:
            os.utime(Path(folder, name), (LONG_AGO, LONG_AGO))
        os.utime(folder, (LONG_AGO, LONG_AGO))


@pytest.fixture
def tree(tree_copy: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree whose index is up to date, and which was last edited long ago."""
    _age(tree_copy)
    build_near(tree_copy, cache, tmp_path_factory)
    return tree_copy


def _index_file(tree: Path, cache: Path) -> str:
    from indexes.build.builder import index_path

    return str(index_path(Source.find(str(tree)), cache))


def _unchanged(tree: Path, cache: Path) -> bool:
    return unchanged(Source.find(str(tree)), _index_file(tree, cache)) is not None


def _edit(tree: Path) -> None:
    (tree / KERNEL).write_text("// other\n")


def _edit_back_in_time(tree: Path) -> None:
    (tree / KERNEL).write_text("// other\n")
    os.utime(tree / KERNEL, (LONG_AGO - 9, LONG_AGO - 9))


def _edit_same_size_and_time(tree: Path) -> None:
    text = (tree / KERNEL).read_bytes()
    (tree / KERNEL).write_bytes(text.swapcase())
    os.utime(tree / KERNEL, (LONG_AGO, LONG_AGO))


def _new_file(tree: Path) -> None:
    (tree / NATIVE / "New.cpp").write_text("// new\n")


def _new_file_in_a_new_folder(tree: Path) -> None:
    (tree / NATIVE / "fresh").mkdir()
    (tree / NATIVE / "fresh/New.cpp").write_text("// new\n")


def _folder_that_was_absent(tree: Path) -> None:
    (tree / "tools/pyi").mkdir(parents=True)


def _replaced(tree: Path) -> None:
    (tree / "aside").write_bytes((tree / KERNEL).read_bytes())
    os.utime(tree / "aside", (LONG_AGO, LONG_AGO))
    os.replace(tree / "aside", tree / KERNEL)


def _deleted(tree: Path) -> None:
    (tree / KERNEL).unlink()


def _other_version(tree: Path) -> None:
    (tree / "version.txt").write_text("9.9.9\n")


@pytest.mark.parametrize(
    "change",
    [
        _edit,
        _edit_back_in_time,
        _edit_same_size_and_time,
        _new_file,
        _deleted,
        _replaced,
        _new_file_in_a_new_folder,
        _folder_that_was_absent,
        _other_version,
    ],
)
def test_every_change_is_seen(tree: Path, cache: Path, change: Callable[[Path], None]) -> None:
    assert _unchanged(tree, cache)
    change(tree)
    assert not _unchanged(tree, cache)


def test_what_was_written_just_now_is_looked_at_again(tree: Path, cache: Path) -> None:
    _edit(tree)
    with opened(tree, cache) as index:
        assert index.report.read == 1
    assert not _unchanged(tree, cache)
    with opened(tree, cache) as index:
        assert index.report.read == 0


def test_a_folder_that_was_written_in_just_now_is_listed_again(tree: Path, cache: Path) -> None:
    os.utime(tree / NATIVE)
    build(tree, cache)
    assert not _unchanged(tree, cache)


def test_an_edit_in_place_lists_no_folder_and_looks_up_one_file(
    tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _edit(tree)
    os.utime(tree / KERNEL, (LONG_AGO + 9, LONG_AGO + 9))
    listed: list[str] = []
    monkeypatch.setattr(os, "scandir", listed.append)
    with opened(tree, cache) as index:
        assert (index.report.read, index.report.removed) == (1, 0)
        assert index.report.files > 150
    assert listed == []
    assert _unchanged(tree, cache)


def test_an_unchanged_tree_needs_neither_git_nor_the_database(
    tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("not needed")

    monkeypatch.setattr("indexes.source.git._run", refuse)
    monkeypatch.setattr("indexes.build.builder.Store", refuse)
    monkeypatch.setattr(os, "scandir", refuse)
    with opened(tree, cache) as index:
        assert index.report.read == 0
        assert not index.info.dirty


@pytest.mark.parametrize("damage", [b"", b"[1]", b"{}", b'{"code": "', b"\xff"])
def test_a_damaged_file_is_no_file(tree: Path, cache: Path, damage: bytes) -> None:
    index_file = _index_file(tree, cache)
    Path(snapshot_file(index_file)).write_bytes(damage)
    assert TreeSnapshot.load(index_file) is None
    with opened(tree, cache) as index:
        assert (index.report.cold, index.report.read) == (False, 0)
    assert _unchanged(tree, cache)


def test_an_index_that_is_gone_is_built_again(tree: Path, cache: Path) -> None:
    Path(_index_file(tree, cache)).unlink()
    with opened(tree, cache) as index:
        assert index.report.cold


@needs_git
def test_edits_commits_and_reverts_show_in_the_answer(tree_copy: Path, cache: Path) -> None:
    text = (tree_copy / KERNEL).read_text()
    begin(tree_copy)
    _age(tree_copy)

    def dirty() -> bool:
        with opened(tree_copy, cache) as index:
            return index.info.dirty

    assert not dirty()
    _edit(tree_copy)
    assert dirty()
    (tree_copy / KERNEL).write_text(text)
    assert not dirty()
    _edit(tree_copy)
    assert dirty()
    commit(tree_copy, "second")
    assert not dirty()
    (tree_copy / NATIVE / "notes.txt").write_text("not tracked, not indexed\n")
    assert not dirty()


@needs_git
def test_an_index_as_it_was_left_asks_git_nothing_and_is_corrected(
    tree_copy: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(tree_copy)
    build(tree_copy, cache)
    _edit(tree_copy)
    source = Source.find(str(tree_copy))
    with monkeypatch.context() as patch:
        patch.setattr("indexes.source.git._run", lambda *_: pytest.fail("git was asked"))
        assert not Index.as_left(source, cache).info.dirty
    assert Index.open(source, cache).info.dirty


def test_an_index_of_another_version_is_not_built_to_be_opened_as_it_was_left(
    tree: Path, cache: Path
) -> None:
    import sqlite3

    with sqlite3.connect(_index_file(tree, cache)) as database:
        database.execute("UPDATE meta SET value='0' WHERE key='layout'")
    with pytest.raises(SourceError):
        Index.as_left(Source.find(str(tree)), cache)
    with opened(tree, cache) as index:
        assert index.report.cold


def test_answers_are_those_of_an_index_built_anew(tree: Path, cache: Path) -> None:
    _edit(tree)
    with opened(tree, cache) as index:
        after = _rows(index)
    with opened(tree, cache, force=True) as index:
        assert after == _rows(index)


def _rows(index: Index) -> list[str]:
    return sorted(map(repr, index.kernel_rows()))
