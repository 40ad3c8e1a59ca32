"""Building an index in a test, and what it says as data that can be compared."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexes.queries.index import Index
from indexes.source.source import Source
from indexes.store.codec import load_native
from indexes.store.definition_rows import KERNEL_LINE, OP_LINES
from indexes.store.tables import FILE_OF

Answers = dict[tuple[str, str], tuple[str, ...]]


@contextlib.contextmanager
def opened(tree: Path, cache: Path, **options: Any) -> Iterator[Index]:
    """The index of ``tree``, brought up to date."""
    with contextlib.closing(Index.open(Source.find(str(tree)), cache, **options)) as index:
        yield index


def answers(index: Index) -> Answers:
    """What an index says of every kernel."""
    return {
        (row.op, row.key): (row.symbol, row.kind, *(str(d.location) for d in row.definitions))
        for row in index.kernel_rows()
    }


def shared_cache(root: Path, factory: pytest.TempPathFactory) -> Path:
    """A cache folder with the index of a tree, built once for all test processes."""
    base = factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    with _only_one(shared / "index.lock"), opened(root, shared / "index"):
        return shared / "index"


@contextlib.contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    deadline = time.monotonic() + 300
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            assert time.monotonic() < deadline, "the process that builds the index is stuck"
            time.sleep(0.1)
    try:
        yield
    finally:
        lock.unlink()


def contents(file: Path) -> dict[str, Counter[tuple[Any, ...]]]:
    """Every row of an index file by table, its numbers replaced by what they stand for, so that
    indexes made in different ways can be compared."""
    with contextlib.closing(sqlite3.connect(file)) as db:
        found = db.execute(_DEFINITIONS).fetchall()
        definitions = {row[0]: row[1:] for row in found}
        tables = {"definitions": Counter(definitions.values())}
        for table, sql in _ROWS.items():
            tables[table] = Counter(db.execute(sql).fetchall())
        calls = db.execute("SELECT definition,calls FROM calls").fetchall()
        tables["calls"] = Counter((definitions[number], text) for number, text in calls)
        tables["called"] = Counter(
            (name, definitions[int(number)])
            for name, numbers in db.execute("SELECT name,callers FROM called")
            for number in numbers.split(",")
        )
        tables["ops"] = Counter(
            (*row[:-3], repr(load_native(*row[-3:-1])), *_moved_summary(*row[-2:]))
            for row in db.execute(_OPS)
        )
        tables["kernels"] = Counter(
            (*row[:-1], *sorted(map(repr, (definitions[int(n)] for n in row[-1].split(",") if n))))
            for row in db.execute(_KERNELS)
        )
    return tables


def _moved_summary(lines: int, summary: str) -> tuple[str, int]:
    values = json.loads(summary)
    place = values.pop(1)
    return json.dumps(values), place[1] + lines


_RANK = "(SELECT count(*) FROM ops o WHERE o.position<ops.position)"
_OPS = f"SELECT {_RANK},full_name,base,family,derivative,data,{OP_LINES},summary FROM ops"
_KERNELS = (
    "SELECT (SELECT count(*) FROM kernels k WHERE k.id<kernels.id AND k.op=kernels.op),op,key,"
    f"symbol,hint,source_op,{KERNEL_LINE},rule,kind,confidence,link_rule,reason,definitions"
    " FROM kernels ORDER BY id"
)
_DEFINITIONS = f"""
SELECT d.id,f.path,d.name,d.scope,d.kind,d.line,d.end_line,d.parameters,d.guard,d.is_global,d.base,
  d.macro,d.macro_path,d.macro_line
FROM definitions d JOIN files f ON f.id={FILE_OF}
"""
_ROWS = {
    "nodes": "SELECT grad_fn,op,position FROM nodes",
    "files": "SELECT path,kind,size,hash FROM files",
    "names": "SELECT length,names FROM names",
    **{table: f"SELECT * FROM {table}" for table in ("derivatives", "documents", "problems")},
    **{
        table: f"SELECT (SELECT path FROM files WHERE id=file),{columns} FROM {table}"
        for table, columns in {
            "uses": "name,arguments,scope,line,guard,offset,parameters,end_line,stub,made",
            "macros": "name,parameters,body,line,offset,undefined_at",
            "libraries": "macro,block,method,arguments,line,block_line,guard,macro_path,"
            "macro_line,op,made",
            "aliases": "name,target,scope,line",
            "python": "kind,target,symbol,line,end_line,detail,made",
            "outlines": "outline",
        }.items()
    },
}
