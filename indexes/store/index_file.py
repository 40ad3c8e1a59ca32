"""The index file: one SQLite database for one tree, and one store of facts by content.

An index is built aside and renamed into place; a refresh is one transaction. Either way
a crash leaves a whole index behind. Rows of a file go with the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from indexes.model.errors import SourceError
from indexes.readers.cxx.idioms import meaning_of, stub_of
from indexes.store.definition_rows import insert_many
from indexes.store.tables import (
    CPP_INDEXES,
    FIELD,
    INDEXES,
    PRAGMAS,
    STORE_VERSION,
    TABLES,
    numbers_of,
    numbers_of_some,
)

if TYPE_CHECKING:
    from pathlib import Path

    from indexes.model.vocabulary import Problem
    from indexes.readers.cxx.facts import AliasFact, CppFacts, LibraryFact, UseFact
    from indexes.readers.cxx.lexer import MacroFact
    from indexes.store.callers import Callers
    from indexes.store.packed import Defined

_OF_A_FILE = ("uses", "macros", "libraries", "aliases", "python", "outlines")
_BUFFERED = ("files", "definitions", *_OF_A_FILE)
_MANY = 4000


class Store:
    """One index file. Raises SourceError, in one line, for a file that is no index."""

    def __init__(self, path: str | Path, create: bool = False) -> None:
        self.path = str(path)
        try:
            self.db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            if create:
                self.db.executescript(PRAGMAS + TABLES)
            else:
                self._check()
        except sqlite3.Error as error:
            raise SourceError(f"not a usable index: {path}: {error}") from error
        self.db.create_function("macro_meaning", 1, meaning_of, deterministic=True)
        self._waiting: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _BUFFERED}
        self._next_file = 0
        self._indexed: bool | None = None

    @cached_property
    def callers(self) -> Callers:
        """The calls of definitions, to be written."""
        from indexes.store.callers import Callers

        return Callers(self.db)

    def _check(self) -> None:
        row = self.db.execute("SELECT value FROM meta WHERE key='store_version'").fetchone()
        if row is None or row[0] != STORE_VERSION:
            raise SourceError(f"an index of another torchnav version: {self.path}")

    def schema(self) -> set[tuple[str, str, str]]:
        """Type, name and text of everything that the file defines."""
        return set(self.query("SELECT type,name,coalesce(sql,'') FROM sqlite_master"))

    def tables(self) -> list[str]:
        """The names of our own tables."""
        rows = self.query(
            "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'"
        )
        return [row[0] for row in rows]

    def write_aside(self) -> None:
        """Writes without a journal: for an index that nobody else sees yet."""
        self.db.executescript(PRAGMAS)

    def close(self) -> None:
        """Closes the file."""
        self.db.close()

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query; SourceError when the file is damaged."""
        try:
            return self.db.execute(sql, parameters).fetchall()
        except sqlite3.DatabaseError as error:
            raise SourceError(f"damaged index {self.path}: {error}") from error

    # ------------------------------------------------------------------ writing

    def set_meta(self, key: str, value: str) -> None:
        """Keeps one word about the index."""
        self.db.execute("INSERT OR REPLACE INTO meta VALUES(?,?)", (key, value))

    def meta(self, key: str) -> str | None:
        """The word kept by ``set_meta``."""
        row = self.db.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def _highest(self, table: str) -> int:
        return int(self.db.execute(f"SELECT coalesce(max(id),0) FROM {table}").fetchone()[0])

    def _has_indexes(self) -> bool:
        if self._indexed is None:
            self._indexed = self.meta("indexed") == "1"
        return self._indexed

    def _insert(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        """Keeps rows until there are many: an insert costs more to begin than to go on with."""
        waiting = self._waiting[table]
        waiting += rows
        if len(waiting) > _MANY:
            self._write(table, waiting)

    def _write(self, table: str, waiting: list[tuple[Any, ...]]) -> None:
        insert_many(self.db, table, waiting)
        waiting.clear()

    def flush(self) -> None:
        """Writes every row that still waits."""
        for table, waiting in self._waiting.items():
            if waiting:
                self._write(table, waiting)
        if self._has_indexes():
            self.callers.write()

    def add_file(self, row: tuple[str, str, int, int, int, bytes]) -> int:
        """Keeps a file's path, kind, size, mtime, inode and hash; returns its number."""
        if not self._next_file:
            self._next_file = self._highest("files") + 1
        number = self._next_file
        self._next_file += 1
        self._insert("files", [(number, *row)])
        return number

    def drop_rows(self, file: int) -> set[str]:
        """Removes what was read from a file; returns the names it defined."""
        self.flush()
        given = numbers_of(file)
        names = self.query("SELECT DISTINCT name FROM definitions WHERE id BETWEEN ? AND ?", given)
        self.callers.drop(*given)
        self.db.execute("DELETE FROM definitions WHERE id BETWEEN ? AND ?", given)
        for table in _OF_A_FILE:
            self.db.execute(f"DELETE FROM {table} WHERE file=?", (file,))
        return {row[0] for row in names}

    def drop_file(self, file: int) -> set[str]:
        """Removes a file and what was read from it; returns the names it defined."""
        names = self.drop_rows(file)
        self.db.execute("DELETE FROM files WHERE id=?", (file,))
        return names

    def add_cpp(self, file: int, facts: CppFacts, defined: Defined) -> None:
        """Keeps the facts of a C++ file, of which the definitions come apart."""
        self.add_definitions(file, defined)
        self.add_uses(file, facts.uses, made=0)
        self._insert("macros", macro_rows(file, facts.macros))
        self.add_libraries(file, facts.libraries, made=0)
        self._insert("aliases", alias_rows(file, facts.aliases))

    def add_definitions(self, file: int, defined: Defined, made: int = 0) -> None:
        """Keeps definitions and their calls; ``made`` 1 for those that macros make."""
        first, _ = numbers_of_some(file, made)
        self._insert("definitions", definition_rows(first, defined))
        self.callers.add(first, defined)

    def stubs(self) -> set[str]:
        """The names of all stubs."""
        self.flush()
        return {r[0] for r in self.query("SELECT DISTINCT stub FROM uses WHERE stub NOT NULL")}

    def add_passed_stubs(self) -> None:
        """Keeps the names passed as arguments that are stubs, now that all stubs are known."""
        self.callers.add_passed(self.stubs())

    def add_uses(self, file: int, uses: Iterable[UseFact], made: int) -> None:
        """Keeps macro uses; ``made`` 1 for those that an expansion made."""
        self._insert("uses", use_rows(file, uses, made))

    def add_libraries(self, file: int, facts: Sequence[LibraryFact], made: int) -> None:
        """Keeps what TORCH_LIBRARY blocks hold; ``made`` 1 for what macros in them make."""
        self._insert("libraries", library_rows(file, facts, made))

    def add_python(self, file: int, rows: Iterable[Sequence[Any]], made: int = 0) -> None:
        """Keeps facts of a Python file; ``made`` 1 for those that helpers of other files make."""
        self._insert("python", [(file, *r, made) for r in rows])

    def add_outline(self, file: int, outline: str) -> None:
        """Keeps where the tests and classes of a Python file stand."""
        if outline:
            self._insert("outlines", [(file, outline)])

    def add_problem(self, path: str, line: int, message: str) -> None:
        """Keeps what could not be read of a file."""
        self.db.execute("INSERT INTO problems VALUES(?,?,?)", (path, line, message))

    def add_registered_by_helpers(self) -> None:
        """Keeps the registrations that Python files make through helpers of other files."""
        from indexes.linking.python.helpers import resolve
        from indexes.readers.python.facts import PythonFact

        self.flush()
        self.db.execute("DELETE FROM python WHERE made=1")
        numbers: dict[str, int] = {}
        files: dict[str, list[PythonFact]] = {}
        for number, path, *row in self.query(
            "SELECT f.id,f.path,p.kind,p.target,p.symbol,p.line,p.end_line,p.detail FROM python p"
            " JOIN files f ON f.id=p.file WHERE p.kind IN ('deferred','helpers')"
        ):
            numbers[path] = number
            files.setdefault(path, []).append(PythonFact(*row))
        for path, fact in resolve(files):
            self.add_python(numbers[path], [fact], made=1)
        self.flush()

    def add_cpp_indexes(self) -> None:
        """Makes the indexes of what C++ files fill, once all of it is there."""
        from indexes.store.name_index import keep_names

        self.flush()
        self.callers.write_anew()
        self._make(CPP_INDEXES)
        keep_names(self.db)

    def add_indexes(self) -> None:
        """Makes the other indexes, last of all."""
        self.flush()
        self._make(INDEXES)
        self.set_meta("indexed", "1")
        self._indexed = True

    def _make(self, indexes: str) -> None:
        # One by one: executescript would end the transaction.
        for statement in indexes.split(";"):
            self.db.execute(statement)

    # ------------------------------------------------------------------ reading

    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, with places."""
        from indexes.model.vocabulary import Problem

        return tuple(Problem(*row) for row in self.query("SELECT * FROM problems"))

    def cpp_uses(self, file: int) -> list[UseFact]:
        """The macro uses written in a file."""
        rows = self.query(
            "SELECT name,arguments,scope,line,guard,offset,parameters,end_line FROM uses"
            " WHERE file=? AND made=0",
            (file,),
        )
        from indexes.readers.cxx.facts import UseFact

        return [UseFact(*r) for r in rows]

    def library_uses(self, file: int) -> list[LibraryFact]:
        """The macro uses inside the TORCH_LIBRARY blocks of a file."""
        rows = self.query(
            "SELECT macro,block,method,arguments,line,block_line,guard,offset,macro_path,macro_line"
            " FROM libraries WHERE file=? AND method='use'",
            (file,),
        )
        from indexes.readers.cxx.facts import LibraryFact

        return [LibraryFact(*r) for r in rows]

    def macros(self, *names: str) -> Iterator[tuple[str, MacroFact]]:
        """(path, macro) of every macro, or of those with some names."""
        wanted, where, given = "macros m", "", names
        if len(names) == 1:
            where = " WHERE m.name=?"
        elif names:  # one statement, however many there are
            from json import dumps

            wanted = "json_each(?) w CROSS JOIN macros m ON m.name=w.value"
            given = (dumps(names),)
        sql = (
            "SELECT f.path,m.name,m.parameters,m.body,m.line,m.offset,m.undefined_at"
            f" FROM {wanted} JOIN files f ON f.id=m.file{where}"
        )
        from indexes.readers.cxx.lexer import MacroFact

        for path, *m in self.query(sql, given):
            parameters = None if m[1] is None else [p for p in m[1].split(FIELD) if p]
            yield path, MacroFact(m[0], parameters, m[2], m[3], m[4], m[5])


def expected_schema() -> set[tuple[str, str, str]]:
    """What ``Store.schema`` says of an index that was made here."""
    store = Store(":memory:", create=True)
    store.add_cpp_indexes()
    store.add_indexes()
    found = store.schema()
    store.close()
    return found


# --------------------------------------------------------------------- facts as whole rows


def definition_rows(first: int, defined: Defined) -> list[tuple[Any, ...]]:
    """Definitions, numbered from ``first``."""
    return [(number, *row) for number, row in enumerate(defined.rows, first)]


def use_rows(file: int, uses: Iterable[UseFact], made: int) -> list[tuple[Any, ...]]:
    """Macro uses, written out or made by others."""
    return [(file, *u, _stub(u[0], u[1]), made) for u in uses]


def macro_rows(file: int, macros: Iterable[MacroFact]) -> list[tuple[Any, ...]]:
    """Macros."""
    return [(file, m[0], stored_parameters(m), *m[2:]) for m in macros]


def library_rows(file: int, facts: Sequence[LibraryFact], made: int) -> list[tuple[Any, ...]]:
    """What TORCH_LIBRARY blocks hold."""
    if not facts:
        return []
    from indexes.codegen.library_calls import registered_operator

    return [(file, *f, registered_operator(f[1], f[2], f[3]), made) for f in facts]


def alias_rows(file: int, aliases: Iterable[AliasFact]) -> list[tuple[Any, ...]]:
    """Type aliases."""
    return [(file, *a) for a in aliases]


def stored_parameters(macro: MacroFact) -> str | None:
    """The parameters of a macro as one column; None for one that takes none."""
    return None if macro.parameters is None else FIELD.join(macro.parameters)


def _stub(macro: str, arguments: str) -> str | None:
    """The stub that a DECLARE, DEFINE or REGISTER line is about."""
    return stub_of(macro, arguments).rpartition("::")[2] or None
