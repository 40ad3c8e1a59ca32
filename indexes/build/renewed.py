"""The rows of C++ files that are read again: most of them are as they were, and only those are
written that are not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from indexes.store.definition_rows import insert_many
from indexes.store.index_file import (
    Store,
    alias_rows,
    definition_rows,
    library_rows,
    macro_rows,
    use_rows,
)
from indexes.store.packed import Defined
from indexes.store.tables import numbers_of_some

if TYPE_CHECKING:
    from indexes.readers.cxx.facts import CppFacts, LibraryFact, UseFact

Row = tuple[Any, ...]


class Kept(NamedTuple):
    """What an index has of a C++ file, but for what macros make in it."""

    number: int
    definitions: _Rows
    uses: _Rows
    macros: _Rows
    libraries: _Rows
    aliases: _Rows

    def visible_macros(self) -> set[Row]:
        """What other files see of its macros."""
        return set(map(_visible_macro, self.macros.rows))

    def visible_aliases(self) -> list[Row]:
        """What other files see of its aliases."""
        return sorted(map(_visible_alias, self.aliases.rows))


class _Rows:
    """The rows of one table that a file has, and their own numbers."""

    def __init__(self, store: Store, table: str, where: str, given: Sequence[int]) -> None:
        found = store.db.execute(f"SELECT rowid,* FROM {table} WHERE {where} ORDER BY rowid", given)
        self.columns = [column[0] for column in found.description[1:]]
        found_rows = found.fetchall()
        self.numbers: list[int] = [row[0] for row in found_rows]
        self.rows: list[Row] = [row[1:] for row in found_rows]
        self.table = table
        self._db = store.db

    def bring_up(self, number: int, now: Sequence[Row], made: int | None = None) -> bool:
        """Writes what ``now`` has otherwise; whether that is anything. With more or fewer rows
        all are written, and those that macros make behind those written out are to follow."""
        if now == self.rows:
            return False
        if len(now) == len(self.rows):
            self._update(zip(self.numbers, self.rows, now, strict=True))
        else:
            rest = "" if made is None else f" AND made>={made}"
            self._db.execute(f"DELETE FROM {self.table} WHERE file=?{rest}", (number,))
            insert_many(self._db, self.table, now)
        return True

    def bring_up_numbered(self, now: Sequence[Row]) -> list[Row]:
        """The same of rows that begin with their own number; returns those that are not as they
        were, and as what they were."""
        if now == self.rows:
            return []
        before, after = ({row[0]: row for row in rows} for rows in (self.rows, now))
        gone, new = before.keys() - after.keys(), after.keys() - before.keys()
        both = [(n, row, after[n]) for n, row in before.items() if n in after and row != after[n]]
        self._db.executemany(f"DELETE FROM {self.table} WHERE rowid=?", [(n,) for n in gone])
        self._update(both)
        insert_many(self._db, self.table, [after[number] for number in sorted(new)])
        differing = [row for _, *pair in both for row in pair]
        return [*differing, *(before[n] for n in gone), *(after[n] for n in new)]

    def _update(self, rows: Iterable[tuple[int, Row, Row]]) -> None:
        """Writes the columns that differ: the indexes of others stay as they are."""
        by_columns: dict[tuple[int, ...], list[Row]] = defaultdict(list)
        for number, before, now in rows:
            places = tuple(at for at, value in enumerate(now) if value != before[at])
            if places:
                by_columns[places].append((*(now[at] for at in places), number))
        for places, values in by_columns.items():
            given = ",".join(f"{self.columns[at]}=?" for at in places)
            self._db.executemany(f"UPDATE {self.table} SET {given} WHERE rowid=?", values)


class Renewing:
    """Brings the rows of files up to what was read of them again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.names: set[str] = set()
        """Names whose definitions are not what they were: elsewhere, others, or numbered in
        another way."""
        self.macros: set[str] = set()
        """Macros that were changed, moved, added or removed."""
        self.aliases_changed = False
        self.stubs_before: set[str] | None = None
        """All stubs as they were; None as long as no file has others than it had."""

    def kept(self, number: int) -> Kept:
        """What the index has of a file, to be asked for before anything of it is written."""
        written = numbers_of_some(number, 0)

        def rows(table: str, which: str = "") -> _Rows:
            return _Rows(self._store, table, f"file=?{which}", (number,))

        return Kept(
            number,
            _Rows(self._store, "definitions", "id BETWEEN ? AND ?", written),
            rows("uses", " AND made=0"),
            rows("macros"),
            rows("libraries", " AND made=0"),
            rows("aliases"),
        )

    def removes(self, kept: Kept) -> None:
        """Notes what others will not see any more of a file that is about to be dropped."""
        self._note(kept.visible_macros(), set())
        self.aliases_changed |= bool(kept.aliases.rows)
        self._foresee(kept.number)

    def adds(self, number: int, facts: CppFacts, defined: Defined) -> None:
        """Notes what others see of a file that is about to be added."""
        self._note(set(), set(map(_visible_macro, macro_rows(number, facts.macros))))
        self.aliases_changed |= bool(facts.aliases)
        self._compare_stubs((), use_rows(number, facts.uses, made=0))
        self.names |= defined.names()

    def written(self, kept: Kept, facts: CppFacts, defined: Defined) -> bool:
        """Brings what is written out in a file up to its facts; whether macros may make other
        things of it now."""
        number = kept.number
        macros = macro_rows(number, facts.macros)
        aliases = alias_rows(number, facts.aliases)
        self._note(kept.visible_macros(), set(map(_visible_macro, macros)))
        self.aliases_changed |= kept.visible_aliases() != sorted(map(_visible_alias, aliases))
        self._definitions(kept.definitions, number, defined, made=0)
        kept.aliases.bring_up(number, aliases)
        libraries = library_rows(number, facts.libraries, made=0)
        return any(
            (
                self._uses(kept.uses, number, facts.uses, made=0),
                kept.macros.bring_up(number, macros),
                kept.libraries.bring_up(number, libraries, made=0),
            )
        )

    def made(
        self, number: int, libraries: Sequence[LibraryFact], defined: Defined, uses: list[UseFact]
    ) -> None:
        """Brings what macros make in a file up to date."""
        store, numbers = self._store, numbers_of_some(number, 1)
        of_file = "file=? AND made=1"
        self._definitions(
            _Rows(store, "definitions", "id BETWEEN ? AND ?", numbers), number, defined, made=1
        )
        self._uses(_Rows(store, "uses", of_file, (number,)), number, uses, made=1)
        before = _Rows(store, "libraries", of_file, (number,))
        before.bring_up(number, library_rows(number, libraries, made=1), made=1)

    def _definitions(self, before: _Rows, number: int, defined: Defined, made: int) -> None:
        low, high = numbers_of_some(number, made)
        differing = before.bring_up_numbered(definition_rows(low, defined))
        self.names |= {row[1] for row in differing}
        self._store.callers.renew(low, high, defined)

    def _uses(self, before: _Rows, number: int, uses: Iterable[UseFact], made: int) -> bool:
        now = use_rows(number, uses, made)
        self._compare_stubs(before.rows, now)
        if len(now) != len(before.rows):
            self._foresee(number)  # what macros made goes too
        return before.bring_up(number, now, made)

    def _compare_stubs(self, before: Iterable[Row], now: Iterable[Row]) -> None:
        """Notes all stubs before the uses of a file become those of others."""
        if self.stubs_before is None and set(map(_stub, before)) != set(map(_stub, now)):
            self.stubs_before = self._store.stubs()

    def _foresee(self, number: int) -> None:
        """Notes all stubs before the uses of a file are dropped."""
        sql = "SELECT 1 FROM uses WHERE file=? AND stub NOT NULL LIMIT 1"
        if self.stubs_before is None and self._store.query(sql, (number,)):
            self.stubs_before = self._store.stubs()

    def _note(self, before: set[Row], now: set[Row]) -> None:
        self.macros |= {row[0] for row in before ^ now}


def _visible_macro(row: Row) -> Row:
    _, name, parameters, body, line, _, undefined_at = row
    return name, parameters, body, line, bool(undefined_at)


def _visible_alias(row: Row) -> Row:
    return row[1:4]


def _stub(row: Row) -> str:
    return row[9] or ""
