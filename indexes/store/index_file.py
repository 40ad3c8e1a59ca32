"""The index file: one SQLite database for one tree.

An index is built aside and renamed into place; a refresh is one transaction. Either way a crash
leaves a complete index behind. Rows of a file go with the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from indexes.model.errors import DamagedIndex, OtherIndex, SourceError, UsageError
from indexes.model.files import MacroFact
from indexes.model.idioms import meaning_of
from indexes.model.vocabulary import Problem
from indexes.source.files import read_files, sync_file
from indexes.store.tables import (
    FIELD,
    FILE_BITS,
    INDEXES,
    OF_A_FILE,
    PRAGMAS,
    TABLES,
    first_number,
    numbers_of,
)

if TYPE_CHECKING:
    from indexes.store.rows import Row, Rows

_PACKAGE = Path(__file__).parents[1]

LAYOUT_ROOMS = ("model", "store")
"""The code that decides the contents of the tables."""
SCAN_ROOMS = ("model", "readers", "codegen", "build")
"""The code that decides the rows of one file's bytes."""
STAGE_ROOMS = ("model", "readers", "codegen", "linking", "build")
"""The code that decides what follows from the facts of all files."""
MADE = "macros"
"""The stage that expands macro uses."""


@cache
def code_digest(*rooms: str) -> str:
    """The hexadecimal digest of the source of rooms of ``indexes``."""
    digest = hashlib.blake2b(digest_size=8)
    for room in rooms:
        paths = sorted((_PACKAGE / room).rglob("*.py"))
        for path, data in zip(paths, read_files(paths), strict=True):
            digest.update(f"{path.relative_to(_PACKAGE)}\0".encode() + data)
    return digest.hexdigest()


def index_version() -> str:
    """The digest of all the code that makes an index."""
    return code_digest(*sorted({*LAYOUT_ROOMS, *SCAN_ROOMS, *STAGE_ROOMS, "source"}))


_PATIENCE = 60.0
"""Seconds to wait for another process that writes to the same index."""
_UNHEARD = 0.2
"""Seconds that SQLite waits at a time, during which ctrl+c is not handled."""
_T = TypeVar("_T")


def patiently(act: Callable[[], _T]) -> _T:
    """Retries an action that another process may block."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise


def _connect(path: Path, reads_only: bool = False) -> sqlite3.Connection:
    where = f"{path.absolute().as_uri()}?mode=ro" if reads_only else path
    return sqlite3.connect(
        where, _UNHEARD, check_same_thread=False, isolation_level=None, uri=reads_only
    )


def _is_refused(error: Exception) -> bool:
    """Whether the system, another process or the query is to blame; the file may be intact."""
    is_damage = type(error) in (sqlite3.DatabaseError, UnicodeDecodeError)
    return not is_damage and not str(error).startswith("no such")


class Store:
    """One index file. Raises SourceError, in one line, for a file that is no index.

    Parameters:
        create: Create the tables, in an empty file.
        reads_only: Never written to. A file that stays open needs this: SQLite finds a journal by
        the name
        of its database, and once another file has that name, that file's journal must not be rolled
        back into this one.
    """

    def __init__(self, path: str | Path, create: bool = False, reads_only: bool = False) -> None:
        self.path = str(path)
        self._identity = _identity(self.path)
        try:
            self.db = _connect(Path(path), reads_only)
            if create:
                self.db.executescript(PRAGMAS + TABLES)
                self.set_meta("layout", code_digest(*LAYOUT_ROOMS))
            elif self.meta("layout") != code_digest(*LAYOUT_ROOMS):
                raise OtherIndex(f"an index of another torchnav version: {path}")
        except sqlite3.Error as error:
            what = SourceError if create or _is_refused(error) else DamagedIndex
            raise what(f"cannot use the index {path}: {error}") from error
        self.db.create_function("macro_meaning", 1, meaning_of, deterministic=True)

    def schema(self) -> set[tuple[str, str, str]]:
        """Type, name and SQL of everything that the file defines."""
        return set(self.query("SELECT type,name,coalesce(sql,'') FROM sqlite_master"))

    def tables(self) -> list[str]:
        """The names of our own tables."""
        rows = self.query(
            "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'"
        )
        return [name for (name,) in rows]

    def _patiently(self, act: Callable[[], _T]) -> _T:
        """As ``patiently``. A read-only file also waits for a journal beside its name."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return patiently(act)
            except sqlite3.OperationalError as error:
                if "readonly" not in str(error) or time.monotonic() > end:
                    raise
            self._roll_back()
            time.sleep(_UNHEARD)

    def _roll_back(self) -> None:
        """Rolls back a killed refresh in the file that now has the name."""
        with contextlib.closing(_connect(Path(self.path))) as named:
            patiently(lambda: named.execute("SELECT 1 FROM meta").fetchone())

    def begin(self) -> None:
        """Begins a transaction that waits only for readers."""
        patiently(lambda: self.db.execute("BEGIN IMMEDIATE"))
        self.db.execute(f"PRAGMA busy_timeout={1000 * _PATIENCE:.0f}")

    def write_aside(self) -> None:
        """Writes without a journal: for an index that nobody else sees yet."""
        self.db.executescript(PRAGMAS)

    def close(self) -> None:
        self.db.close()

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query. Raises SourceError; DamagedIndex, which also removes the file."""
        try:
            return self._patiently(lambda: self.db.execute(sql, parameters).fetchall())
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self.refusal(error) from error
        except UnicodeEncodeError as error:
            raise UsageError("the name holds half a character (a lone surrogate)") from error
        except OverflowError as error:
            raise UsageError("a number is larger than any line's") from error

    def refusal(self, error: Exception, what: str = "read") -> SourceError:
        """The exception for an error of SQLite's; a damaged file is removed."""
        if _is_refused(error):
            return SourceError(f"cannot {what} the index {self.path}: {error}")
        if self._identity == _identity(self.path):  # so that the next command makes it anew
            with contextlib.suppress(OSError):
                os.unlink(self.path)
        return DamagedIndex(f"damaged index {self.path} ({error}): ask again to make it anew")

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a query one by one. Raises as ``query``."""
        try:
            found = self._patiently(lambda: self.db.execute(sql, parameters))
            for row in found:  # noqa: UP028 that would close the cursor, an error where ctrl+c
                yield row  # has closed the file before
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self.refusal(error) from error

    def column(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """The values of a query for one column."""
        return [value for (value,) in self.query(sql, parameters)]

    def set_meta(self, key: str, value: str) -> None:
        """Stores a value about the index."""
        sql = "INSERT OR REPLACE INTO meta VALUES(?,?)"
        self._patiently(lambda: self.db.execute(sql, (key, value)))

    def meta(self, key: str) -> str | None:
        """The value stored by ``set_meta``."""
        sql = "SELECT value FROM meta WHERE key=?"
        row = self._patiently(lambda: self.db.execute(sql, (key,)).fetchone())
        return None if row is None else str(*row)

    def create_indexes(self) -> None:
        """Creates the missing indexes of the tables."""
        for statement in INDEXES.split(";"):  # executescript would end the transaction
            self.db.execute(statement)

    def empty(self, *tables: str) -> None:
        """Removes all rows of tables, and their indexes until ``create_indexes``, which makes
        filling them three times as fast."""
        for table in tables:
            self.db.execute(f"DELETE FROM {table}")
            of_table = "SELECT name FROM sqlite_master WHERE type='index' AND tbl_name=?"
            for name in self.column(f"{of_table} AND sql NOT NULL", (table,)):
                self.db.execute(f"DROP INDEX {name}")

    # ------------------------------------------------------------------ writing

    def insert(self, table: str, rows: Sequence[Row]) -> None:
        """Adds whole rows to a table."""
        if rows:
            marks = ",".join("?" * len(next(iter(rows))))
            sql, before = f"INSERT INTO {table} VALUES({marks})", self.db.total_changes
            try:
                self.db.executemany(sql, rows)
            except UnicodeEncodeError:  # a literal of Python may hold half a character
                rest = [*rows][self.db.total_changes - before :]
                self.db.executemany(sql, map(_whole_characters, rest))

    def add_file(self, number: int, path: str, kind: str, digest: bytes) -> None:
        """Adds a file."""
        self.db.execute("INSERT INTO files VALUES(?,?,?,?)", (number, path, kind, digest))

    def drop_rows(self, file: int) -> None:
        """Removes what was read from a file; its edges stay to be compared with the new ones."""
        given = numbers_of(file)
        self._drop_bodies(given)
        self.db.execute("DELETE FROM definitions WHERE id BETWEEN ? AND ?", given)
        for table in OF_A_FILE:
            self.db.execute(f"DELETE FROM {table} WHERE file=?", (file,))

    def _drop_bodies(self, numbers: tuple[int, int]) -> None:
        for table in ("calls", "branches"):
            self.db.execute(f"DELETE FROM {table} WHERE definition BETWEEN ? AND ?", numbers)

    def drop_edges(self, file: int) -> None:
        """Removes the edges of a file's bodies, and its registrations on stubs."""
        self.db.execute("DELETE FROM edges WHERE caller BETWEEN ? AND ?", numbers_of(file))
        self.db.execute("DELETE FROM registrations WHERE file=?", (file,))

    def drop_made(self, files: Iterable[int]) -> None:
        """Removes what macros make in files."""
        for file in files:
            last = numbers_of(file)[1]
            given = (first_number(file, made=1), last)
            self._drop_bodies(given)
            self.db.execute("DELETE FROM definitions WHERE id BETWEEN ? AND ?", given)
            self.db.execute("DELETE FROM uses WHERE file=? AND made=1", (file,))
            self.db.execute("DELETE FROM libraries WHERE file=? AND made=1", (file,))
            for path in self.column("SELECT path FROM files WHERE id=?", (file,)):
                self.set_problems(MADE, (), path)

    def drop_all_made(self) -> None:
        made = first_number(0, made=1)
        self.db.execute("DELETE FROM definitions WHERE id&?", (made,))
        for table in ("calls", "branches"):
            self.db.execute(f"DELETE FROM {table} WHERE definition&?", (made,))
        for table in ("uses", "libraries"):
            self.db.execute(f"DELETE FROM {table} WHERE made=1")
        self.set_problems(MADE, ())

    def drop_file(self, path: str) -> None:
        """Removes a file with everything about it."""
        self.db.execute("DELETE FROM problems WHERE path=?", (path,))
        for number in self.column("SELECT id FROM files WHERE path=?", (path,)):
            self.drop_rows(number)
            self.drop_edges(number)
            self.db.execute("DELETE FROM files WHERE id=?", (number,))

    def add(self, rows: Rows) -> None:
        """Adds the rows of a file."""
        for table, listed in rows.items():
            self.insert(table, listed)

    def set_problems(self, stage: str, problems: Iterable[Problem], path: str = "") -> None:
        """Stores what a stage could not read, in one file or, without ``path``, anywhere."""
        which = "stage=?" + " AND path=?" * bool(path)
        given = (stage, path) if path else (stage,)
        self.db.execute(f"DELETE FROM problems WHERE {which}", given)
        self.insert("problems", [(one.path, one.line, one.message, stage) for one in problems])

    # ------------------------------------------------------------------ reading

    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, with places."""
        rows = self.query("SELECT DISTINCT path,line,message FROM problems ORDER BY rowid")
        return tuple(Problem(*row) for row in rows)

    def names_of(self, file: int) -> list[str]:
        """The names of what a file defines, including stubs."""
        defined = "SELECT DISTINCT name FROM definitions WHERE id BETWEEN ? AND ?"
        stubs = "SELECT DISTINCT stub FROM uses WHERE file=? AND stub NOT NULL"
        return self.column(defined, numbers_of(file)) + self.column(stubs, (file,))

    def files_calling(self, names: Iterable[str]) -> list[int]:
        """The files whose bodies use one of some names."""
        named = "SELECT value FROM json_each(?)"
        sql = f"SELECT DISTINCT definition>>{FILE_BITS} FROM calls WHERE name IN ({named})"
        return self.column(sql, (dumps(list(names)),))

    def files_with_edges_into(self, file: int) -> list[int]:
        """The files with an edge to a definition of a file."""
        sql = f"SELECT DISTINCT caller>>{FILE_BITS} FROM edges WHERE target BETWEEN ? AND ?"
        return self.column(f"{sql} AND caller>=0", numbers_of(file))

    def formulas_into(self, file: int) -> list[int]:
        """The callers of formulas with an edge to a definition of a file."""
        sql = "SELECT DISTINCT caller FROM edges WHERE target BETWEEN ? AND ? AND caller<0"
        return self.column(sql, numbers_of(file))

    def files_registering(self, file: int) -> list[int]:
        """The files that register functions of a file on stubs."""
        sql = "SELECT DISTINCT file FROM registrations WHERE target BETWEEN ? AND ?"
        return self.column(sql, numbers_of(file))

    def macros(self, name: str = "") -> Iterator[tuple[str, MacroFact]]:
        """(path, macro) of every macro, or of those of a name."""
        sql = (
            "SELECT f.path,m.name,m.parameters,m.body,m.line,m.offset,m.undefined_at"
            " FROM macros m JOIN files f ON f.id=m.file"
        )
        rows = self.query(f"{sql} WHERE m.name=?", (name,)) if name else self.query(sql)
        for path, named, parameters, *rest in rows:
            taken = None if parameters is None else [p for p in parameters.split(FIELD) if p]
            yield path, MacroFact(named, taken, *rest)


def put_in_place(made: Path, index: str) -> None:
    """Renames a new file over an index, while nobody writes to that one; a crash leaves one of them
    complete.

    SQLite finds a journal by the name of its database. What a killed refresh left there would be
    rolled back into the new file: so it is rolled back into its own first.
    """
    sync_file(made)
    while not _put_over(made, index, _identity(index)):
        pass


def _put_over(made: Path, index: str, seen: tuple[int, int] | None) -> bool:
    """False if another file took the place since it was seen, or there was none to lock."""
    with contextlib.closing(sqlite3.connect(index, _UNHEARD, isolation_level=None)) as old:
        try:
            patiently(lambda: old.execute("BEGIN IMMEDIATE"))
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:  # it is no index, so nobody writes to it
            pass
        if _identity(index) != seen:
            return False
        if os.name == "nt":  # there no file that is open can be replaced
            old.close()
        os.replace(made, index)
        return True


def _identity(path: str) -> tuple[int, int] | None:
    with contextlib.suppress(FileNotFoundError):
        found = os.stat(path)
        return found.st_dev, found.st_ino
    return None


def expected_schema() -> set[tuple[str, str, str]]:
    """``Store.schema`` of an index made by this version."""
    store = Store(":memory:", create=True)
    store.create_indexes()
    found = store.schema()
    store.close()
    return found


def _whole_characters(row: Row) -> Row:
    return tuple(
        one.encode("utf-8", "replace").decode() if isinstance(one, str) else one for one in row
    )
