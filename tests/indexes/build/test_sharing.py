"""A shared index: used at once by the same contents, refreshed by others, refused when it is
anything that our own code did not write."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.build.builder import Builder, index_path
from indexes.build.sharing import export_index, import_index
from indexes.model.errors import SourceError
from indexes.queries.index import Index
from indexes.source.source import Source
from tests.indexing import answers, contents, opened
from tests.tree_marks import NATIVE, TREE

BINARY_OPS = NATIVE + "BinaryOps.cpp"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The exported index of the small tree."""
    folder = tmp_path_factory.mktemp("shared")
    source = Source.find(str(TREE))
    Index.open(source, folder / "cache").close()
    path, label = export_index(Builder(source, folder / "cache"), folder)
    assert label.tree in path.name
    return path


def fetch(tree: Path, cache: Path, shared: Path) -> tuple[int, int]:
    """(read, removed) of an import."""
    report = import_index(Builder(Source.find(str(tree)), cache), shared)
    return report.read, report.removed


def test_the_same_contents_elsewhere_use_it_at_once(
    tree_copy: Path, cache: Path, shared: Path, tree_index: Index
) -> None:
    assert fetch(tree_copy, cache, shared) == (0, 0)
    with opened(tree_copy, cache) as index:
        assert not index.report.cold
        assert index.report.read == 0
        assert answers(index) == answers(tree_index)


def test_what_differs_is_read(tree_copy: Path, cache: Path, shared: Path) -> None:
    file = tree_copy / BINARY_OPS
    file.write_bytes(b"// a new first line\n" + file.read_bytes())
    (tree_copy / NATIVE / "SoftMax.cpp").unlink()
    assert fetch(tree_copy, cache, shared) == (1, 1)
    source = Source.find(str(tree_copy))
    imported = contents(index_path(source, cache))
    with opened(tree_copy, cache, force=True):
        assert imported == contents(index_path(source, cache))


def test_a_folder_of_many_gives_the_one_of_these_contents(
    tree_copy: Path, cache: Path, shared: Path, tmp_path: Path
) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    shutil.copy(shared, shelf)
    (tree_copy / NATIVE / "SoftMax.cpp").unlink()
    with opened(tree_copy, cache):
        export_index(Builder(Source.find(str(tree_copy)), cache), shelf)
    assert len(list(shelf.iterdir())) == 2
    assert fetch(tree_copy, tmp_path / "one", shelf) == (0, 0)
    assert fetch(TREE, tmp_path / "other", shelf) == (0, 0)


def test_another_tree_is_told(wheel: Index, cache: Path, shared: Path) -> None:
    with pytest.raises(SourceError, match="index of another tree"):
        import_index(Builder(wheel.source, cache), shared)


# ------------------------------------------------------------------- what is refused


def _split(shared: Path) -> tuple[bytes, dict[str, object], bytes]:
    magic, label, packed = shared.read_bytes().split(b"\n", 2)
    return magic, json.loads(label), packed


def _relabelled(shared: Path, **values: object) -> bytes:
    magic, label, packed = _split(shared)
    return b"\n".join((magic, json.dumps({**label, **values}).encode(), packed))


def _with_database(shared: Path, folder: Path, *statements: str) -> bytes:
    """The file with a changed database, and a label that fits it."""
    magic, label, packed = _split(shared)
    database = folder / "hostile.db"
    database.write_bytes(zlib.decompress(packed))
    with contextlib.closing(sqlite3.connect(database)) as db, db:
        for statement in statements:
            db.execute(statement)
    data = database.read_bytes()
    label |= {"size": len(data), "digest": hashlib.blake2b(data, digest_size=16).hexdigest()}
    return b"\n".join((magic, json.dumps(label).encode(), zlib.compress(data, 1)))


def _flipped(shared: Path) -> bytes:
    data = bytearray(shared.read_bytes())
    data[len(data) // 2] ^= 0xFF
    return bytes(data)


FILES: dict[str, Callable[[Path, Path], bytes]] = {
    "nothing": lambda shared, _: b"",
    "something else": lambda shared, _: b"SQLite format 3\0" * 100,
    "no label": lambda shared, _: b"torchnav index 1\n[1, 2]\n",
    "a long label": lambda shared, _: b"torchnav index 1\n" + b"{" * 10_000,
    "cut off": lambda shared, _: shared.read_bytes()[:-1000],
    "a flipped byte": lambda shared, _: _flipped(shared),
    "another version": lambda shared, _: _relabelled(shared, store="0.1"),
    "too large": lambda shared, _: _relabelled(shared, size=10**15),
    "a size that is no number": lambda shared, _: _relabelled(shared, size="many"),
    "more than it says": lambda shared, _: _relabelled(shared, size=4096),
    "a trigger": lambda shared, at: _with_database(
        shared, at, "CREATE TRIGGER t DELETE ON files BEGIN DELETE FROM calls; END"
    ),
    "a view in place of a table": lambda shared, at: _with_database(
        shared, at, "DROP TABLE problems", "CREATE VIEW problems AS SELECT path, 1, 2 FROM files"
    ),
    "values of another type": lambda shared, at: _with_database(
        shared, at, "UPDATE definitions SET line='x'"
    ),
    "operators that are none": lambda shared, at: _with_database(
        shared, at, "UPDATE ops SET data='[]' WHERE position=0"
    ),
    "calls that are none": lambda shared, at: _with_database(
        shared, at, "UPDATE calls SET line='add'"
    ),
    "nodes that are none": lambda shared, at: _with_database(
        shared, at, "UPDATE ops SET grad_fns='[' WHERE position=0"
    ),
    "numbers that are none": lambda shared, at: _with_database(
        shared, at, "UPDATE kernels SET definitions='1;DROP TABLE ops'"
    ),
}


@pytest.mark.parametrize("what", FILES)
def test_it_is_refused_in_a_line_and_nothing_is_lost(
    what: str, tree: Path, cache: Path, shared: Path, tmp_path: Path
) -> None:
    file = tmp_path / "hostile.index"
    file.write_bytes(FILES[what](shared, tmp_path))
    assert fetch(tree, cache, shared) == (0, 0)
    there = index_path(Source.find(str(tree)), cache)
    before = there.read_bytes()
    with pytest.raises(SourceError) as raised:
        fetch(tree, cache, file)
    assert "\n" not in str(raised.value)
    assert str(file) in str(raised.value)
    assert there.read_bytes() == before
    assert [p.name for p in there.parent.glob("*.building")] == []


def test_paths_out_of_the_tree_are_not_taken_over(
    tree_copy: Path, cache: Path, shared: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.cpp").write_text("int secret() { return 1; }\n")
    file = tmp_path / "hostile.index"
    statement = f"UPDATE files SET path='../secret.cpp' WHERE path='{BINARY_OPS}'"
    file.write_bytes(_with_database(shared, tmp_path, statement))
    assert fetch(tree_copy, cache, file) == (1, 1)
    with opened(tree_copy, cache) as index:
        assert index.facts.store.query("SELECT 1 FROM files WHERE path LIKE '..%'") == []
