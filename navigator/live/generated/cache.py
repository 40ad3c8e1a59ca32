"""What the generators of a tree write, kept in the cache: one file for each content of what they
are and read."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from indexes.source.aside import written_aside
from indexes.source.files import listed, modified, read_file

_KEPT = 6
"""Files in the cache; the one that was longest not used goes first."""
_SCHEMA = """
CREATE TABLE files(id INTEGER PRIMARY KEY, path, family, text);
CREATE TABLE pieces(op, file, first, last, function, template, line, placeholder);
CREATE TABLE facts(name PRIMARY KEY, value);
CREATE TABLE absent(op, family, reason);
CREATE TABLE functions(id INTEGER PRIMARY KEY, name, path, line);
CREATE TABLE reasons(id INTEGER PRIMARY KEY, value);
CREATE INDEX by_piece ON pieces(op);
CREATE INDEX by_absence ON absent(op);
"""
_FACTS = ("writers", "named", "nodes", "matched")


def digest(paths: Iterable[Path]) -> str:
    """The digest of files, and of those in folders that generators are made of or read."""
    found = hashlib.blake2b(digest_size=16)
    for path in paths:
        for one in _files(path):
            found.update(f"{one}\0".encode() + read_file(one))
    return found.hexdigest()


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(one for one in path.rglob("*") if one.suffix in _KINDS and one.is_file())


_KINDS = {".py", ".yaml", ".cpp", ".h", ".cu", ".in", ".ini"}


def save(path: Path, parts: Iterable[dict[str, Any]]) -> None:
    """Writes what the processes answered, and swaps it in whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_aside(path) as draft:
        with closing(sqlite3.connect(draft)) as db, db:
            _fill(db, list(parts))
        draft.replace(path)
    _make_room(path.parent)


def _fill(db: sqlite3.Connection, parts: list[dict[str, Any]]) -> None:
    db.executescript(_SCHEMA)
    for number, part in enumerate(parts):
        base = number * 1_000_000
        db.executemany("INSERT INTO files VALUES(?,?,?,?)", _file_rows(part["files"], base))
        pieces = (
            [op, base + file, a, b, base + by, *x] for op, file, a, b, by, *x in part["pieces"]
        )
        db.executemany("INSERT INTO pieces VALUES(?,?,?,?,?,?,?,?)", pieces)
        absent = ([op, family, base + reason] for op, family, reason in part["absent"])
        db.executemany("INSERT INTO absent VALUES(?,?,?)", absent)
        functions = ([base + at, *one] for at, one in enumerate(part["functions"]))
        db.executemany("INSERT INTO functions VALUES(?,?,?,?)", functions)
        reasons = ([base + at, json.dumps(one)] for at, one in enumerate(part["reasons"]))
        db.executemany("INSERT INTO reasons VALUES(?,?)", reasons)
    every = "SELECT DISTINCT family FROM pieces p JOIN files f ON f.id = p.file ORDER BY 1"
    families = [one for (one,) in db.execute(every)]
    facts = {name: _merged(part[name] for part in parts) for name in _FACTS}
    facts["families"] = families
    db.executemany("INSERT INTO facts VALUES(?,?)", [(k, json.dumps(v)) for k, v in facts.items()])


def _merged(values: Iterable[Any]) -> list[Any]:
    """What several lists or dictionaries hold, each once."""
    every = (one for value in values for one in _items(value))
    return [json.loads(one) for one in dict.fromkeys(map(json.dumps, every))]


def _items(value: Any) -> Iterable[Any]:
    return value.items() if isinstance(value, dict) else value


def _file_rows(files: list[Any], base: int) -> Iterator[tuple[Any, ...]]:
    for at, (path, family, text) in enumerate(files):
        yield base + at, path, family, zlib.compress(text.encode(), 1)


def _make_room(folder: Path) -> None:
    found = sorted(listed(folder, "*.db"), key=modified, reverse=True)
    for one in found[_KEPT:]:
        one.unlink(missing_ok=True)
