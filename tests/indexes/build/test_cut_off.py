"""A refresh that is cut off: what it leaves beside the index spoils none that takes its place."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Timer

import pytest

from indexes.build.builder import Builder, index_path
from indexes.model.errors import SourceError
from indexes.source.source import Source
from indexes.store.index_file import Store
from tests.indexing import build, contents, opened
from tests.tree_marks import NATIVE

_KILLED = """
import os, sqlite3, sys
index = sqlite3.connect(sys.argv[1], isolation_level=None)
index.execute("PRAGMA cache_size=1")
index.execute("BEGIN IMMEDIATE")
index.execute("UPDATE definitions SET line=line+1")
os._exit(0)
"""
"""A writer that ends within its transaction, after pages of it reached the file."""


def _cut_off(index: Path) -> Path:
    subprocess.run([sys.executable, "-c", _KILLED, str(index)], check=True)
    journal = index.with_name(f"{index.name}-journal")
    assert journal.stat().st_size > 4096
    return journal


def test_the_journal_of_a_killed_refresh_spoils_no_new_index(tree_copy: Path, cache: Path) -> None:
    source = Source.find(str(tree_copy))
    build(tree_copy, cache)
    journal = _cut_off(index_path(source, cache))
    edited = tree_copy / (NATIVE + "BinaryOps.cpp")
    edited.write_text(edited.read_text() + "static void made(int a) { other(a); }\n" * 500)
    Builder(source, cache).run(force=True)
    assert not journal.exists()
    with contextlib.closing(sqlite3.connect(index_path(source, cache))) as index:
        assert index.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    Builder(source, cache.with_name("another")).run()
    anew = contents(index_path(source, cache.with_name("another")))
    assert contents(index_path(source, cache)) == anew


def test_a_refresh_that_was_killed_is_undone_by_who_opens_the_index(
    tree_copy: Path, cache: Path
) -> None:
    with opened(tree_copy, cache):
        index = index_path(Source.find(str(tree_copy)), cache)
        before = contents(index)
    _cut_off(index)
    assert contents(index) == before


@contextlib.contextmanager
def _refreshed(index: Path) -> Iterator[None]:
    """A refresh by another process, which is in its midst for a second."""
    writing = sqlite3.connect(index, isolation_level=None, check_same_thread=False)
    with contextlib.closing(writing):
        writing.executescript("PRAGMA cache_size=1; BEGIN IMMEDIATE;")
        writing.execute("UPDATE definitions SET line=line+1")
        ends = Timer(1, writing.execute, ["ROLLBACK"])
        ends.start()
        yield
        ends.join()


@contextlib.contextmanager
def _killed_refresh(index: Path) -> Iterator[None]:
    _cut_off(index)
    yield


@pytest.mark.skipif(sys.platform == "win32", reason="there no open file can be replaced")
@pytest.mark.parametrize("refresh", [_refreshed, _killed_refresh])
def test_who_holds_an_index_that_was_replaced_rolls_back_no_journal_of_the_new_one(
    tree_copy: Path, cache: Path, refresh: Callable[[Path], AbstractContextManager[None]]
) -> None:
    with opened(tree_copy, cache) as held:
        store = held.facts.store
        index = Path(store.path)
        lines, before = store.query("SELECT id,line FROM definitions"), contents(index)
        shutil.copy(index, index.with_name("another"))
        index.with_name("another").replace(index)
        with refresh(index):
            assert store.query("SELECT id,line FROM definitions") == lines
        assert store.query("PRAGMA quick_check") == [("ok",)]
    assert contents(index) == before


def test_what_is_no_index_is_replaced(tree_copy: Path, cache: Path) -> None:
    source = Source.find(str(tree_copy))
    index = index_path(source, cache)
    index.parent.mkdir(parents=True)
    index.write_bytes(b"no index" * 4096)
    assert Builder(source, cache).run().cold
    Store(index).close()


def test_no_index_is_replaced_while_another_process_writes_to_it(
    tree_copy: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source.find(str(tree_copy))
    with opened(tree_copy, cache):
        index = index_path(source, cache)
    monkeypatch.setattr("indexes.store.index_file._PATIENCE", 0.1)
    with contextlib.closing(sqlite3.connect(index, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(SourceError, match="locked"):
            Builder(source, cache).run(force=True)
    assert Builder(source, cache).run(force=True).cold


def test_rows_that_nobody_reads_on_are_let_go_after_the_index_is_closed(
    tree_copy: Path, cache: Path
) -> None:
    """As after ctrl+c, which ends a query in the midst of its rows."""
    with opened(tree_copy, cache):
        store = Store(index_path(Source.find(str(tree_copy)), cache))
    rows = store.rows("SELECT path FROM files")
    assert next(rows)
    store.close()
    rows.close()  # type: ignore[attr-defined]  # what Python does with a generator


@contextlib.contextmanager
def _held(index: Path) -> Iterator[sqlite3.Connection]:
    """An index that another process lets nobody read."""
    held = sqlite3.connect(index, isolation_level=None, check_same_thread=False)
    with contextlib.closing(held):
        held.execute("BEGIN EXCLUSIVE")
        yield held


@pytest.mark.skipif(sys.platform == "win32", reason="there is no timer there")
def test_who_waits_for_another_process_hears_ctrl_c(tree_copy: Path, cache: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    Builder(Source.find(str(tree_copy)), cache).run()
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with _held(index_path(Source.find(str(tree_copy)), cache)):
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            begun = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                Store(index_path(Source.find(str(tree_copy)), cache))
            assert time.monotonic() - begun < 10, "SQLite itself waits a minute"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_index_that_is_let_go_is_read(tree_copy: Path, cache: Path) -> None:
    source = Source.find(str(tree_copy))
    Builder(source, cache).run()
    with _held(index_path(source, cache)) as held:
        ends = Timer(1, held.execute, ["ROLLBACK"])
        ends.start()
        with contextlib.closing(Store(index_path(source, cache))) as store:
            assert store.column("SELECT count(*) FROM files") != [0]
        ends.join()
