"""What Python files register, define and document, as the index keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from indexes.linking.python.paths import Found
from indexes.model.vocabulary import Location
from indexes.readers.python.facts import PythonFact
from indexes.store.index_file import Store

_FOUND = (
    "SELECT f.path,p.kind,p.target,p.symbol,p.line,p.end_line,p.detail"
    " FROM python p JOIN files f ON f.id=p.file WHERE "
)


class StoredPython:
    """``indexes.linking.python.paths.PythonIndex`` over an index file."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def by_target(self, target: str) -> Iterable[Found]:
        """The rows with this ``target``."""
        return self._found("p.target=? AND p.target!=''", target)

    def tests_containing(self, text: str) -> Iterable[Found]:
        """The ``test`` rows whose symbol contains a text."""
        return tests_containing(self._store, text)

    def definitions(self, qualified: str) -> Iterable[Found]:
        """The ``def`` and ``class`` rows with this symbol."""
        rows = self._found("p.symbol=? AND p.kind IN ('def','class')", qualified)
        return rows or classes_named(self._store, qualified)

    def of_kinds(self, *kinds: str) -> list[Found]:
        """Every row of some kinds."""
        return self._found(f"p.kind IN ({_marks(kinds)})", *kinds)

    def in_file(self, path: str) -> list[PythonFact]:
        """The rows of a file, without its tests and their classes."""
        return [fact for _, fact in self._found("f.path=?", path)]

    def about(self, kinds: Sequence[str], symbol: str, where: Location) -> list[PythonFact]:
        """The rows of a file, of some kinds, with a symbol or that begin on its lines."""
        found = self._found(
            f"f.path=? AND p.kind IN ({_marks(kinds)}) AND (p.symbol=? OR p.line BETWEEN ? AND ?)",
            *(where.path, *kinds, symbol, where.line, max(where.line, where.end_line)),
        )
        return [fact for _, fact in found]

    def passed_on(self, symbol: str, kind: str) -> list[Found]:
        """What a Python function or module returns the result of, in-place forms last."""
        return self._found(
            "p.symbol=? AND p.kind=? AND p.target!=p.symbol AND instr(p.detail,'returned=1')"
            " ORDER BY p.target LIKE '%\\_' ESCAPE '\\', p.rowid",
            *(symbol, kind),
        )

    def _found(self, where: str, *given: object) -> list[Found]:
        rows = self._store.query(_FOUND + where, given)
        return [(path, PythonFact(*fact)) for path, *fact in rows]


def _marks(values: Sequence[str]) -> str:
    return ",".join("?" * len(values))


# ------------------------------------------------------------------------------- tests

_TEST_COLUMNS = "t.kind,t.symbol,t.line,t.end_line"


def tests_containing(store: Store, text: str) -> list[Found]:
    """The tests whose symbol contains a text, with their paths."""
    return _tests(store, "t.kind='test' AND instr(t.symbol,?)", text)


def classes_named(store: Store, symbol: str) -> list[Found]:
    """The classes of test files with this symbol, with their paths."""
    return _tests(store, "t.kind='class' AND t.symbol=?", symbol)


def outline_of(store: Store, path: str) -> list[PythonFact]:
    """The tests of a file, and their classes."""
    return [fact for _, fact in _tests(store, "f.path=?", path)]


def tests_in(store: Store, path: str) -> list[PythonFact]:
    """The tests of a file."""
    return [fact for fact in outline_of(store, path) if fact.kind == "test"]


def _tests(store: Store, where: str, value: str) -> list[Found]:
    sql = f"SELECT f.path,{_TEST_COLUMNS} FROM tests t JOIN files f ON f.id=t.file WHERE {where}"
    rows = store.query(f"{sql} ORDER BY f.path,t.rowid", (value,))
    return [
        (path, PythonFact(kind, "", symbol, line, end)) for path, kind, symbol, line, end in rows
    ]
