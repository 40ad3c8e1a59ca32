"""The index file: one SQLite database for one tree, and one store of facts by content.

An index is built aside and renamed into place; a refresh is one transaction. Either way
a crash leaves a whole index behind. Rows of a file go with the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexes.errors import SourceError
from indexes.readers import FACTS_VERSION

if TYPE_CHECKING:
    from indexes.readers.cpp_facts import CppFacts, DefinitionFact, LibraryFact, MacroFact, UseFact

STORE_VERSION = f"8.{FACTS_VERSION}"
"""Raise its first number whenever the tables change: an older index is then built again."""

CALL_KINDS = ("call", "member", "launch", "name")
_KIND = {kind: number for number, kind in enumerate(CALL_KINDS)}

_PRAGMAS = """
PRAGMA journal_mode=OFF;
PRAGMA synchronous=OFF;
PRAGMA locking_mode=EXCLUSIVE;
PRAGMA cache_size=-16000;
PRAGMA temp_store=MEMORY;
"""
_TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT UNIQUE, kind TEXT, size INTEGER,
  mtime_ns INTEGER, inode INTEGER, hash BLOB);
CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT, searchable INTEGER DEFAULT 0);
CREATE TABLE definitions(id INTEGER PRIMARY KEY, file INTEGER, name INTEGER, scope INTEGER,
  kind TEXT, line INTEGER, end_line INTEGER, parameters TEXT, guard TEXT, is_global INTEGER,
  base TEXT, macro TEXT, macro_path TEXT, macro_line INTEGER);
CREATE TABLE calls(caller INTEGER, name INTEGER, qualifier TEXT, line INTEGER, kind INTEGER,
  template TEXT);
CREATE TABLE uses(file INTEGER, name TEXT, arguments TEXT, scope TEXT, line INTEGER, guard TEXT,
  offset INTEGER, parameters TEXT, end_line INTEGER, stub TEXT, made INTEGER);
CREATE TABLE macros(file INTEGER, name TEXT, parameters TEXT, body TEXT, line INTEGER,
  offset INTEGER, undefined_at INTEGER);
CREATE TABLE libraries(file INTEGER, macro TEXT, block TEXT, method TEXT, arguments TEXT,
  line INTEGER, block_line INTEGER, guard TEXT, offset INTEGER, macro_path TEXT,
  macro_line INTEGER, op TEXT, made INTEGER);
CREATE TABLE aliases(file INTEGER, name TEXT, target TEXT, scope TEXT, line INTEGER);
CREATE TABLE python(file INTEGER, kind TEXT, target TEXT, symbol TEXT, line INTEGER,
  end_line INTEGER, detail TEXT, made INTEGER);
CREATE TABLE ops(position INTEGER PRIMARY KEY, full_name TEXT UNIQUE, base TEXT, family TEXT,
  data TEXT, derivative TEXT, summary TEXT);
CREATE TABLE shifts(position INTEGER PRIMARY KEY, lines INTEGER);
CREATE TABLE texts(path TEXT PRIMARY KEY, data BLOB);
CREATE TABLE derivatives(position INTEGER PRIMARY KEY, op TEXT, data TEXT);
CREATE TABLE nodes(id INTEGER PRIMARY KEY, grad_fn TEXT, op TEXT, position INTEGER);
CREATE TABLE kernels(id INTEGER PRIMARY KEY, op TEXT, key TEXT, symbol TEXT, hint TEXT,
  source_op TEXT, line INTEGER, rule TEXT, kind TEXT, confidence TEXT, link_rule TEXT, reason TEXT,
  definitions TEXT);
CREATE TABLE documents(name TEXT PRIMARY KEY, data TEXT) WITHOUT ROWID;
CREATE TABLE problems(path TEXT, line INTEGER, message TEXT);
"""
_INDEXES = """
CREATE UNIQUE INDEX names_name ON names(name);
CREATE INDEX definitions_name ON definitions(name);
CREATE INDEX definitions_file ON definitions(file);
CREATE INDEX calls_caller ON calls(caller);
CREATE INDEX calls_name ON calls(name);
CREATE INDEX uses_file ON uses(file);
CREATE INDEX uses_name ON uses(name);
CREATE INDEX uses_stub ON uses(stub);
CREATE INDEX macros_name ON macros(name);
CREATE INDEX macros_file ON macros(file);
CREATE INDEX libraries_file ON libraries(file);
CREATE INDEX libraries_op ON libraries(op);
CREATE INDEX aliases_name ON aliases(name);
CREATE INDEX aliases_file ON aliases(file);
CREATE INDEX python_target ON python(target) WHERE target!='';
CREATE INDEX python_symbol ON python(symbol) WHERE kind IN ('def','class');
CREATE INDEX python_file ON python(file);
CREATE INDEX python_tests ON python(symbol) WHERE kind='test';
CREATE INDEX ops_base ON ops(base);
CREATE INDEX ops_family ON ops(family);
CREATE INDEX derivatives_op ON derivatives(op);
CREATE INDEX nodes_name ON nodes(grad_fn);
CREATE INDEX kernels_op ON kernels(op);
CREATE INDEX kernels_symbol ON kernels(symbol);
CREATE VIRTUAL TABLE search USING fts5(name, content='names', content_rowid='id',
  tokenize='trigram', detail='none');
"""
_MAKE_SEARCHABLE = """
INSERT INTO search(rowid, name) SELECT id, name FROM names
  WHERE searchable=0 AND id IN (SELECT name FROM definitions {where});
UPDATE names SET searchable=1
  WHERE searchable=0 AND id IN (SELECT name FROM definitions {where});
"""
_OF_A_FILE = ("uses", "macros", "libraries", "aliases", "python")
_BUFFERED = ("files", "names", "definitions", "calls", *_OF_A_FILE)
_MANY = 4000


class _Names(dict[str, int]):
    """Numbers of names; a name that is not known yet gets one."""

    def __init__(self, number_of: Callable[[str], int]) -> None:
        self._number_of = number_of

    def __missing__(self, name: str) -> int:
        number = self[name] = self._number_of(name)
        return number


class Store:
    """One index file. Raises SourceError, in one line, for a file that is no index."""

    def __init__(self, path: Path, create: bool = False) -> None:
        self.path = path
        try:
            self.db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            if create:
                self.db.executescript(_PRAGMAS + _TABLES)
            else:
                self._check()
        except sqlite3.Error as error:
            raise SourceError(f"not a usable index: {path}: {error}") from error
        self._names = _Names(self._number_of)
        self._waiting: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _BUFFERED}
        self._next_name: int | None = None
        self._next_definition = 0
        self._next_file = 0
        self._indexed: bool | None = None
        self._passed_on: list[tuple[int, str, str]] = []

    def _check(self) -> None:
        row = self.db.execute("SELECT value FROM meta WHERE key='store_version'").fetchone()
        if row is None or row[0] != STORE_VERSION:
            raise SourceError(f"an index of another torchnav version: {self.path}")

    def schema(self) -> set[tuple[str, str, str]]:
        """Type, name and text of everything that the file defines."""
        return set(self.query("SELECT type,name,coalesce(sql,'') FROM sqlite_master"))

    def tables(self) -> list[str]:
        """The names of our own tables, without those of the search."""
        rows = self.query(
            "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'search%'"
            " AND name NOT LIKE 'sqlite_%'"
        )
        return [row[0] for row in rows]

    def write_aside(self) -> None:
        """Writes without a journal: for an index that nobody else sees yet."""
        self.db.executescript(_PRAGMAS)

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

    def name_id(self, name: str) -> int:
        """The number of a name, given it on first sight."""
        return self._names[name]

    def _number_of(self, name: str) -> int:
        return self._stored_name(name) or self._new_name(name)

    def _stored_name(self, name: str) -> int:
        if self._next_name is None:
            self._next_name = self._highest("names") + 1
        if self._next_name == 1 or not self._has_indexes():
            return 0  # a cold build knows every name that it gave a number
        rows = self.db.execute("SELECT id FROM names WHERE name=?", (name,)).fetchall()
        return int(rows[0][0]) if rows else 0

    def _new_name(self, name: str) -> int:
        assert self._next_name is not None
        number = self._next_name
        self._next_name += 1
        self._waiting["names"].append((number, name))
        return number

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
        into = "names(id,name)" if table == "names" else table
        marks = ",".join("?" * len(waiting[0]))
        self.db.executemany(f"INSERT INTO {into} VALUES({marks})", waiting)
        waiting.clear()

    def flush(self) -> None:
        """Writes every row that still waits."""
        for table, waiting in self._waiting.items():
            if waiting:
                self._write(table, waiting)

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
        rows = self.query(
            "SELECT d.id, n.name FROM definitions d JOIN names n ON n.id=d.name WHERE d.file=?",
            (file,),
        )
        self.db.executemany("DELETE FROM calls WHERE caller=?", [(r[0],) for r in rows])
        self.db.execute("DELETE FROM definitions WHERE file=?", (file,))
        for table in _OF_A_FILE:
            self.db.execute(f"DELETE FROM {table} WHERE file=?", (file,))
        return {r[1] for r in rows}

    def drop_file(self, file: int) -> set[str]:
        """Removes a file and what was read from it; returns the names it defined."""
        names = self.drop_rows(file)
        self.db.execute("DELETE FROM files WHERE id=?", (file,))
        return names

    def add_cpp(self, file: int, facts: CppFacts) -> None:
        """Keeps the facts of a C++ file."""
        self.add_definitions(file, facts.definitions)
        self.add_uses(file, facts.uses, made=0)
        self._insert(
            "macros",
            [(file, m[0], stored_parameters(m), *m[2:]) for m in facts.macros],
        )
        self.add_libraries(file, facts.libraries, made=0)
        self._insert("aliases", [(file, *a) for a in facts.aliases])

    def add_definitions(self, file: int, definitions: Sequence[DefinitionFact]) -> None:
        """Keeps definitions and their calls."""
        names = self._names
        if not self._next_definition:
            self._next_definition = self._highest("definitions") + 1
        here = {d[0] for d in definitions}
        rows: list[tuple[Any, ...]] = []
        calls: list[tuple[Any, ...]] = []
        for d in definitions:
            number = self._next_definition
            self._next_definition += 1
            rows.append((number, file, names[d[0]], names[d[1]], *d[2:12]))
            for name, qualifier, line, kind, template in d[12]:
                if kind == "name":
                    if name not in here:
                        self._passed_on.append((number, name, qualifier))
                        continue
                elif qualifier.startswith("std"):
                    continue
                calls.append((number, names[name], qualifier, line, _KIND[kind], template))
        self._insert("definitions", rows)
        self._insert("calls", calls)

    def stubs(self) -> set[str]:
        """The names of all stubs."""
        self.flush()
        return {r[0] for r in self.query("SELECT DISTINCT stub FROM uses WHERE stub NOT NULL")}

    def drop_passed(self, names: Iterable[str]) -> None:
        """Forgets that names were passed as arguments: they are stubs no more."""
        self.db.executemany(
            "DELETE FROM calls WHERE kind=? AND name=(SELECT id FROM names WHERE name=?)",
            [(_KIND["name"], name) for name in names],
        )

    def add_passed_stubs(self) -> None:
        """Keeps the names passed as arguments that are stubs, now that all stubs are known."""
        self.flush()
        stubs, kind = self.stubs(), _KIND["name"]
        rows = [
            (number, self.name_id(name), qualifier, 0, kind, "")
            for number, name, qualifier in self._passed_on
            if name in stubs
        ]
        self._insert("calls", rows)
        self._passed_on.clear()

    def add_uses(self, file: int, uses: Iterable[UseFact], made: int) -> None:
        """Keeps macro uses; ``made`` 1 for those that an expansion made."""
        self._insert("uses", [(file, *u, _stub(u[0], u[1]), made) for u in uses])

    def add_libraries(self, file: int, facts: Iterable[LibraryFact], made: int) -> None:
        """Keeps what TORCH_LIBRARY blocks hold; ``made`` 1 for what macros in them make."""
        from indexes.codegen.library_calls import registered_operator

        self._insert(
            "libraries", [(file, *f, registered_operator(f[1], f[2], f[3]), made) for f in facts]
        )

    def add_python(self, file: int, rows: Iterable[Sequence[Any]], made: int = 0) -> None:
        """Keeps facts of a Python file; ``made`` 1 for those that helpers of other files make."""
        self._insert("python", [(file, *r, made) for r in rows])

    def add_registered_by_helpers(self) -> None:
        """Keeps the registrations that Python files make through helpers of other files."""
        from indexes.linking.python_helpers import resolve
        from indexes.readers.python_facts import PythonFact

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

    def add_indexes(self) -> None:
        """Makes the indexes of the tables, once they are filled."""
        self.flush()
        self._run(_INDEXES)
        self.make_searchable()
        self.set_meta("indexed", "1")
        self._indexed = True

    def make_searchable(self, file: int | None = None) -> None:
        """Adds the names that are defined, in one file or anywhere, to the search by substring."""
        self.flush()
        where = "" if file is None else f"WHERE file={int(file)}"
        self._run(_MAKE_SEARCHABLE.format(where=where))

    def _run(self, script: str) -> None:
        # One by one: executescript would end the transaction.
        for statement in script.split(";"):
            self.db.execute(statement)

    # ------------------------------------------------------------------ reading

    def cpp_uses(self, file: int) -> list[UseFact]:
        """The macro uses written in a file."""
        rows = self.query(
            "SELECT name,arguments,scope,line,guard,offset,parameters,end_line FROM uses"
            " WHERE file=? AND made=0",
            (file,),
        )
        from indexes.readers.cpp_facts import UseFact

        return [UseFact(*r) for r in rows]

    def library_uses(self, file: int) -> list[LibraryFact]:
        """The macro uses inside the TORCH_LIBRARY blocks of a file."""
        rows = self.query(
            "SELECT macro,block,method,arguments,line,block_line,guard,offset,macro_path,macro_line"
            " FROM libraries WHERE file=? AND method='use'",
            (file,),
        )
        from indexes.readers.cpp_facts import LibraryFact

        return [LibraryFact(*r) for r in rows]

    def macros(self, name: str | None = None) -> Iterator[tuple[str, MacroFact]]:
        """(path, macro) of every macro, or of those with one name."""
        sql = (
            "SELECT f.path,m.name,m.parameters,m.body,m.line,m.offset,m.undefined_at"
            " FROM macros m JOIN files f ON f.id=m.file"
        )
        where, given = (" WHERE m.name=?", (name,)) if name else ("", ())
        from indexes.readers.cpp_facts import MacroFact

        for path, *m in self.query(sql + where, given):
            parameters = None if m[1] is None else [p for p in m[1].split("\x1f") if p]
            yield path, MacroFact(m[0], parameters, m[2], m[3], m[4], m[5])


def expected_schema() -> set[tuple[str, str, str]]:
    """What ``Store.schema`` says of an index that was made here."""
    store = Store(Path(":memory:"), create=True)
    store.add_indexes()
    found = store.schema()
    store.close()
    return found


def stored_parameters(macro: MacroFact) -> str | None:
    """The parameters of a macro as one column; None for one that takes none."""
    return None if macro.parameters is None else "\x1f".join(macro.parameters)


def _stub(macro: str, arguments: str) -> str | None:
    """The stub that a DECLARE, DEFINE or REGISTER line is about."""
    if "_DISPATCH" not in macro:
        return None
    if macro.startswith("DECLARE"):
        return arguments.rsplit(",", 1)[-1].strip()
    return arguments.split(",", 1)[0].strip().rpartition("::")[2]
