"""Building an index in a test, and what it says as data that can be compared."""

from __future__ import annotations

import contextlib
import fcntl
import filecmp
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from indexes.build.builder import index_path
from indexes.model.answers import Route
from indexes.queries.index import Index
from indexes.source.source import Source
from indexes.store.tables import FILE_OF, numbers
from tests.tree_marks import TREE

Answers = dict[tuple[str, str], tuple[str, ...]]


@contextlib.contextmanager
def opened(tree: Path, cache: Path, **options: Any) -> Iterator[Index]:
    """The index of ``tree``, brought up to date."""
    with contextlib.closing(Index.open(Source.find(str(tree)), cache, **options)) as index:
        yield index


def build(tree: Path, cache: Path, **options: Any) -> None:
    """Brings the index of a tree up to date."""
    Index.open(Source.find(str(tree)), cache, **options).close()


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Writes files below a folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def append(folder: Path, files: Mapping[str, str]) -> Path:
    """As ``write``, but keeps what is in a file already, before the text."""
    old = {path: (folder / path).read_text() for path in files if (folder / path).exists()}
    return write(folder, {path: old.get(path, "") + text for path, text in files.items()})


def edit(folder: Path, path: str, old: str, new: str) -> None:
    """Replaces a text in a file where it first stands."""
    text = (folder / path).read_text()
    assert old in text
    (folder / path).write_text(text.replace(old, new, 1))


@contextlib.contextmanager
def grown(factory: pytest.TempPathFactory, files: Mapping[str, str]) -> Iterator[Index]:
    """The index of the small tree with texts at the end of its files."""
    root = Path(shutil.copytree(TREE, factory.mktemp("grown") / "pytorch"))
    with opened(append(root, files), nearby(factory.mktemp("cache"), factory)) as index:
        yield index


def line_of(index: Index, path: str, text: str) -> int:
    """The first line of a file of the tree with a text."""
    return index.read(path).split(text)[0].count("\n") + 1


def usual(index: Index, operator: str, device: str = "CPU") -> Route:
    """The first route of an operator on a device."""
    return next(one for one in index.routes(operator) if one.device == device)


def answers(index: Index) -> Answers:
    """What an index says of every kernel."""
    return {
        (row.op, row.key): (row.symbol, row.kind, *(str(d.location) for d in row.definitions))
        for row in index.kernel_rows()
    }


def shared_cache(root: Path, factory: pytest.TempPathFactory, kept: Path | None = None) -> Path:
    """A cache folder with the index of a tree, built once for all test processes; from the one that
    the last run left in the folder ``kept``, which is checked as any index of others is."""
    cache = _shared(factory) / "index"
    index = _index(root, cache)
    with _only_one(cache.with_suffix(".lock")):
        if kept is None or index.exists():
            build(root, cache)
        else:
            _build_from(kept / index.name, root, cache)
    return cache


def kept_folder(name: str, config: pytest.Config, factory: pytest.TempPathFactory) -> Path:
    """A folder whose contents the next run finds again, where pytest keeps any."""
    cache = getattr(config, "cache", None)
    with contextlib.suppress(OSError):  # read-only
        return cache.mkdir(name) if cache else factory.mktemp(name)
    return factory.mktemp(name)


def _build_from(kept: Path, root: Path, cache: Path) -> None:
    """Builds an index from the one of the last run, and keeps it for the next."""
    index = _index(root, cache)
    if kept.exists():
        copied(kept, index)
    build(root, cache)
    if not (kept.exists() and filecmp.cmp(kept, index, shallow=False)):
        copied(index, kept)


def made_once(name: str, factory: pytest.TempPathFactory, make: Callable[[Path], object]) -> Path:
    """A folder that one of the test processes fills for all."""
    folder = _shared(factory) / name
    done = folder.with_suffix(".done")
    with _only_one(folder.with_suffix(".lock")):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


def _shared(factory: pytest.TempPathFactory) -> Path:
    base = factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


def nearby(cache: Path, factory: pytest.TempPathFactory) -> Path:
    """A cache folder with the index of the small tree, from which that of a changed copy is made in
    a fifth of the time. TORCHNAV_TEST_COLD builds it from nothing, as tests/indexes/build does."""
    if not os.environ.get("TORCHNAV_TEST_COLD"):
        index = _index(TREE, shared_cache(TREE, factory))
        copied(index, cache / "indexes" / index.name)
    return cache


def build_near(tree: Path, cache: Path, factory: pytest.TempPathFactory) -> None:
    """As ``build``, of a copy of the small tree into an empty cache, which then has no other."""
    build(tree, nearby(cache, factory))
    _index(TREE, cache).unlink(missing_ok=True)


def _index(tree: Path, cache: Path) -> Path:
    return index_path(Source.find(str(tree)), cache)


def copied(file: Path, to: Path) -> None:
    """Copies a file into a folder that need not exist."""
    to.parent.mkdir(parents=True, exist_ok=True)
    aside = to.with_suffix(f".{os.getpid()}")
    shutil.copyfile(file, aside)
    aside.replace(to)


@contextlib.contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def contents(file: Path) -> dict[str, Counter[tuple[Any, ...]]]:
    """Every row of an index file by table, its numbers replaced by what they stand for, so that
    indexes made in different ways can be compared."""
    with contextlib.closing(sqlite3.connect(file)) as db:
        found = db.execute(_DEFINITIONS).fetchall()
        definitions = {row[0]: row[1:] for row in found}
        tables = {"definitions": Counter(definitions.values())}
        for table, sql in _ROWS.items():
            tables[table] = Counter(db.execute(sql).fetchall())
        tables["calls"] = Counter(
            (definitions[number], *call)
            for number, *call in db.execute(
                "SELECT definition,name,qualifier,line,kind,template FROM calls"
            )
        )
        tables["edges"] = Counter(
            (definitions.get(caller, caller), line, *what, definitions.get(target, target))
            for caller, line, *what, target in db.execute(
                "SELECT caller,line,kind,symbol,confidence,candidates,branch,macro,target"
                " FROM edges"
            )
        )
        tables["kernels"] = Counter(
            (*row, *sorted(repr(definitions[number]) for number in numbers(listed or "")))
            for *row, listed in db.execute(_KERNELS)
        )
    return tables


_KERNELS = (
    "SELECT id,op,key,symbol,hint,source_op,line,rule,kind,confidence,link_rule,reason,definitions"
    " FROM kernels"
)
_DEFINITIONS = f"""
SELECT d.id,f.path,d.name,d.scope,d.kind,d.line,d.end_line,d.parameters,d.guard,d.is_global,d.base,
  d.macro,d.macro_path,d.macro_line
FROM definitions d JOIN files f ON f.id={FILE_OF}
"""
_ROWS = {
    "files": "SELECT path,kind,hash FROM files",
    **{
        table: f"SELECT * FROM {table}"
        for table in ("ops", "nodes", "derivatives", "documents", "problems")
    },
    **{
        table: f"SELECT (SELECT path FROM files WHERE id=file),{columns} FROM {table}"
        for table, columns in {
            "uses": "name,arguments,scope,line,guard,offset,parameters,end_line,stub,made",
            "macros": "name,parameters,body,line,offset,undefined_at",
            "remarks": "kind,name,line,detail",
            "messages": "line,end_line,kind,text",
            "suites": "data",
            "includes": "names",
            "libraries": "macro,block,method,arguments,line,block_line,guard,macro_path,"
            "macro_line,op,made",
            "aliases": "name,target,scope,line",
            "python": "kind,target,symbol,line,end_line,detail,made",
            "tests": "kind,symbol,line,end_line",
        }.items()
    },
}
