"""Tests, functions and classes of Python files, which are kept as a text for each file."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.packed import symbol_line, unpack_outline
from indexes.readers.python_facts import PythonFact
from indexes.store import Store

_FROM = "outlines o JOIN files f ON f.id=o.file"


def tests_containing(store: Store, text: str) -> Iterator[tuple[str, PythonFact]]:
    """The tests whose symbol contains a text, with their paths."""
    sql = f"SELECT f.path,o.tests FROM {_FROM} WHERE instr(o.tests,?) ORDER BY f.path"
    for path, tests in store.query(sql, (text,)):
        fitting = "\n".join(["", *(line for line in _holding(tests, text))])
        yield from ((path, fact) for fact in unpack_outline(fitting) if text in fact.symbol)


def _holding(tests: str, text: str) -> Iterator[str]:
    """The lines that hold a text."""
    at = tests.find(text)
    while at >= 0:
        end = tests.find("\n", at)
        end = len(tests) if end < 0 else end
        yield tests[tests.rfind("\n", 0, at) + 1 : end]
        at = tests.find(text, end)


def definitions_of(store: Store, symbol: str) -> list[tuple[str, PythonFact]]:
    """The functions and classes with this symbol, with their paths."""
    sql = f"SELECT f.path,o.definitions FROM {_FROM} WHERE instr(o.definitions,?)"
    return [
        (path, fact)
        for path, definitions in store.query(sql, (symbol_line(symbol),))
        for fact in unpack_outline(definitions)
        if fact.symbol == symbol
    ]


def tests_in(store: Store, path: str) -> list[PythonFact]:
    """The tests of a file."""
    rows = store.query(f"SELECT o.tests FROM {_FROM} WHERE f.path=?", (path,))
    return [fact for (tests,) in rows for fact in unpack_outline(tests)]


def outline_of(store: Store, file: int) -> list[PythonFact]:
    """The tests, functions and classes of the file with a number."""
    rows = store.query("SELECT tests||definitions FROM outlines WHERE file=?", (file,))
    return [fact for (text,) in rows for fact in unpack_outline(text)]
