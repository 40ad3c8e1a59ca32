"""The names that are defined in C++, kept by length, to be searched for by what they hold."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Iterator


def keep_names(db: sqlite3.Connection) -> None:
    """Keeps the names of all definitions."""
    by_length: dict[int, list[str]] = {}
    for (name,) in db.execute("SELECT DISTINCT name FROM definitions ORDER BY name"):
        by_length.setdefault(len(name), []).append(name)
    rows = ((length, "\n".join(names)) for length, names in sorted(by_length.items()))
    db.executemany("INSERT INTO names VALUES(?,?)", rows)


def renew_names(db: sqlite3.Connection, names: Iterable[str]) -> None:
    """Looks again at which of ``names`` are defined."""
    by_length: dict[int, list[str]] = {}
    for name in names:
        by_length.setdefault(len(name), []).append(name)
    for length, some in by_length.items():
        _renew(db, length, some)


def _renew(db: sqlite3.Connection, length: int, names: Iterable[str]) -> None:
    rows = db.execute("SELECT names FROM names WHERE length=?", (length,)).fetchall()
    before = rows[0][0].split("\n") if rows else []
    now = list(before)
    for name in names:
        at = bisect_left(now, name)
        known = now[at : at + 1] == [name]
        sql = "SELECT 1 FROM definitions WHERE name=? LIMIT 1"
        if bool(db.execute(sql, (name,)).fetchall()) != known:
            now[at : at + known] = [] if known else [name]
    if now != before:
        db.execute("INSERT OR REPLACE INTO names VALUES(?,?)", (length, "\n".join(now)))


class KnownNames:
    """The names to search in, as they are kept: a text for each length."""

    def __init__(self, rows: Iterable[tuple[str]]) -> None:
        self._texts = [(names, names.lower()) for (names,) in rows]

    def holding(self, word: str) -> Iterator[str]:
        """The names that hold ``word``, in whatever case, the shortest first."""
        wanted = word.lower()
        for names, lowered in self._texts:
            if wanted in lowered:
                yield from (name for name in names.split("\n") if wanted in name.lower())

    def beginning(self, word: str) -> Iterator[str]:
        """The names that begin so, the shortest first."""
        for names, _ in self._texts:
            if word in names:
                yield from (name for name in names.split("\n") if name.startswith(word))
