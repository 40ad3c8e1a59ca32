"""Tests and their classes, which are kept as a text for each file."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.readers.python.facts import PythonFact
from indexes.store.index_file import Store
from indexes.store.tables import FIELD

_FROM = "outlines o JOIN files f ON f.id=o.file"
_BEFORE_LINE = f"{FIELD}test{FIELD}"


def tests_containing(store: Store, text: str) -> Iterator[tuple[str, PythonFact]]:
    """The tests whose symbol contains a text, with their paths."""
    # Outlines first, of which there are fewer than files, and only those that hold it.
    sql = "SELECT f.path,o.outline FROM outlines o CROSS JOIN files f ON f.id=o.file"
    for path, outline in sorted(store.query(f"{sql} WHERE instr(o.outline,?)", (text,))):
        for line in _lines_with(outline, text):
            symbol, is_test, _ = line.partition(_BEFORE_LINE)
            if is_test and text in symbol:
                yield path, _unpacked(line)


def _lines_with(outline: str, text: str) -> Iterator[str]:
    at = outline.find(text)
    while at >= 0:
        end = outline.find("\n", at)
        end = len(outline) if end < 0 else end
        yield outline[outline.rfind("\n", 0, at) + 1 : end]
        at = outline.find(text, end)


def outline_of(store: Store, path: str) -> list[PythonFact]:
    """The tests of a file, and their classes."""
    rows = store.query(f"SELECT o.outline FROM {_FROM} WHERE f.path=?", (path,))
    return [fact for (text,) in rows for fact in unpack_outline(text)]


def tests_in(store: Store, path: str) -> list[PythonFact]:
    """The tests of a file."""
    return [fact for fact in outline_of(store, path) if fact.kind == "test"]


def classes_named(store: Store, symbol: str) -> list[tuple[str, PythonFact]]:
    """The classes of test files with this symbol, with their paths."""
    sql = f"SELECT f.path,o.outline FROM {_FROM} WHERE instr(o.outline,?)"
    beginning = f"{symbol}{FIELD}class{FIELD}"
    return [
        (path, fact)
        for path, outline in store.query(sql, (beginning,))
        for fact in unpack_outline(outline)
        if fact.symbol == symbol and fact.kind == "class"
    ]


def unpack_outline(text: str) -> Iterator[PythonFact]:
    """The facts in an outline; raises ValueError on anything else."""
    yield from map(_unpacked, text.split("\n"))


def _unpacked(packed: str) -> PythonFact:
    symbol, kind, line, end_line = packed.split(FIELD)
    return PythonFact(kind, "", symbol, int(line), int(end_line))  # type: ignore[arg-type]
