"""Which definitions call a name: calls are kept with the definition that makes them, and this is
the way back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from indexes.store.definition_rows import insert_many, unpack_calls
from indexes.store.packed import Defined, pack_calls

if TYPE_CHECKING:
    import sqlite3

_MANY = 4000
"""Rows that wait for an insert, which costs more to begin than to go on with."""


class Callers:
    """Keeps the calls of definitions, and the definitions by the names that they call."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._added: defaultdict[str, list[int]] = defaultdict(list)
        self._removed: defaultdict[str, list[int]] = defaultdict(list)
        self._passed: list[tuple[int, str, str]] = []
        self._rows: list[tuple[int, str]] = []
        self._renewed: dict[tuple[int, int], Defined] = {}

    def add(self, first: int, defined: Defined) -> None:
        """Keeps the calls of definitions that are numbered from ``first``."""
        added = self._added
        for at, names, packed in defined.calls:
            number = first + at
            self._rows.append((number, packed))
            for name in names:
                added[name].append(number)
        self._passed += [(first + at, name, qualifier) for at, name, qualifier in defined.passed]
        if len(self._rows) > _MANY:
            self._flush()

    def _flush(self) -> None:
        insert_many(self._db, "calls", self._rows)
        self._rows.clear()

    def drop(self, low: int, high: int) -> None:
        """Forgets the calls of the definitions with these numbers."""
        self.write()  # a number may be given again
        self._passed = [one for one in self._passed if not low <= one[0] <= high]
        for number, packed in self._between(low, high):
            for name, *_ in unpack_calls(packed):
                self._removed[name].append(number)
        self._db.execute("DELETE FROM calls WHERE definition BETWEEN ? AND ?", (low, high))

    def renew(self, low: int, high: int, defined: Defined) -> None:
        """Brings the calls of the definitions with these numbers up to ``defined``, as soon as
        all stubs are known."""
        self._renewed[low, high] = defined

    def _between(self, low: int, high: int) -> list[tuple[int, str]]:
        self._flush()
        sql = "SELECT definition,calls FROM calls WHERE definition BETWEEN ? AND ?"
        return self._db.execute(sql, (low, high)).fetchall()

    def add_passed(self, stubs: set[str]) -> None:
        """Keeps the names passed as arguments that are stubs, now that all stubs are known."""
        for number, name, qualifier in self._passed:
            if name in stubs:
                self._set(number, _with_passed(self._of(number), name, qualifier))
                self._added[name].append(number)
        self._passed.clear()
        if self._renewed:
            self.write()
        for (low, high), defined in self._renewed.items():
            self._bring_up(low, high, _texts(low, defined, stubs))
        self._renewed.clear()

    def _bring_up(self, low: int, high: int, now: dict[int, str]) -> None:
        before = dict(self._between(low, high))
        for number in before.keys() | now.keys():
            was, text = before.get(number, ""), now.get(number, "")
            if was != text:
                self._set(number, text)
                for name, *_ in unpack_calls(was):
                    self._removed[name].append(number)
                for name, *_ in unpack_calls(text):
                    self._added[name].append(number)

    def drop_passed(self, names: Iterable[str]) -> None:
        """Forgets that names were passed as arguments: they are stubs no more."""
        self.write()
        for name in names:
            for number in sorted(set(self._stored(name))):
                calls = list(unpack_calls(self._of(number)))
                left = [call for call in calls if call[0] != name or call[3] != "name"]
                if left != calls:
                    self._set(number, pack_calls(left))
                    self._removed[name] += [number for call in calls if call[0] == name]
                    self._added[name] += [number for call in left if call[0] == name]

    def _of(self, number: int) -> str:
        rows = self._between(number, number)
        return rows[0][1] if rows else ""

    def _set(self, number: int, calls: str) -> None:
        if calls:
            self._db.execute("INSERT OR REPLACE INTO calls VALUES(?,?)", (number, calls))
        else:
            self._db.execute("DELETE FROM calls WHERE definition=?", (number,))

    def write_anew(self) -> None:
        """Writes all that was added to an empty index."""
        self._flush()
        rows = [(name, _joined(self._added[name])) for name in sorted(self._added)]
        insert_many(self._db, "called", rows)
        self._added.clear()

    def write(self) -> None:
        """Writes what was added and removed since."""
        self._flush()
        for name in sorted({*self._added, *self._removed}):
            added, left_out = self._added.get(name, []), self._removed.get(name, [])
            if sorted(added) == sorted(left_out):
                continue  # most calls of a file that was read again
            before, removed = self._stored(name), set(left_out)
            now = [number for number in before if number not in removed]
            now = sorted([*now, *added])
            if not now:
                self._db.execute("DELETE FROM called WHERE name=?", (name,))
            elif now != before:
                self._db.execute("INSERT OR REPLACE INTO called VALUES(?,?)", (name, _joined(now)))
        self._added.clear()
        self._removed.clear()

    def _stored(self, name: str) -> list[int]:
        rows = self._db.execute("SELECT callers FROM called WHERE name=?", (name,)).fetchall()
        return [int(number) for number in rows[0][0].split(",")] if rows else []


def _texts(first: int, defined: Defined, stubs: set[str]) -> dict[int, str]:
    """The calls of definitions by their numbers, with the stubs that are passed on."""
    texts = {first + at: packed for at, _, packed in defined.calls}
    for at, name, qualifier in defined.passed:
        if name in stubs:
            texts[first + at] = _with_passed(texts.get(first + at, ""), name, qualifier)
    return texts


def _with_passed(calls: str, name: str, qualifier: str) -> str:
    passed = pack_calls([(name, qualifier, 0, "name", "")])
    return f"{calls}\n{passed}" if calls else passed


def _joined(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))
