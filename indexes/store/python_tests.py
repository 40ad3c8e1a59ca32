"""The tests and classes of PyTorch's test files, as the index keeps them."""

from __future__ import annotations

from indexes.readers.python.facts import PythonFact
from indexes.store.index_file import Store

_COLUMNS = "t.kind,t.symbol,t.line,t.end_line"
Found = tuple[str, PythonFact]
"""The path of a file and a fact of it."""


def tests_containing(store: Store, text: str) -> list[Found]:
    """The tests whose symbol contains a text, with their paths."""
    return _found(store, "t.kind='test' AND instr(t.symbol,?)", text)


def classes_named(store: Store, symbol: str) -> list[Found]:
    """The classes of test files with this symbol, with their paths."""
    return _found(store, "t.kind='class' AND t.symbol=?", symbol)


def outline_of(store: Store, path: str) -> list[PythonFact]:
    """The tests of a file, and their classes."""
    return [fact for _, fact in _found(store, "f.path=?", path)]


def tests_in(store: Store, path: str) -> list[PythonFact]:
    """The tests of a file."""
    return [fact for fact in outline_of(store, path) if fact.kind == "test"]


def _found(store: Store, where: str, value: str) -> list[Found]:
    sql = f"SELECT f.path,{_COLUMNS} FROM tests t JOIN files f ON f.id=t.file WHERE {where}"
    rows = store.query(f"{sql} ORDER BY f.path,t.rowid", (value,))
    return [
        (path, PythonFact(kind, "", symbol, line, end)) for path, kind, symbol, line, end in rows
    ]
