"""The names that are defined in C++, kept by length, to be searched for by what they hold."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

    from indexes.queries.search import Wanted


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
    """The names to search in, the shortest first: a line of one text for each."""

    def __init__(self, rows: Iterable[tuple[str]]) -> None:
        """Of one text for each length, whose names stand in the order of their letters."""
        self._texts = [names for (names,) in rows]
        self.lines = Lines("\n".join(["", *self._texts, ""]))

    def beginning(self, word: str, limit: int) -> list[Found]:
        """The first names that begin so, the shortest first."""
        found: list[Found] = []
        begin = 1
        for names in self._by_length:
            width = len(names[0]) + 1
            at = bisect_left(names, word)
            while at < len(names) and names[at].startswith(word):
                if len(found) == limit:
                    return found
                start = begin + at * width
                found.append((start, start, start + width - 1))
                at += 1
            begin += len(names) * width
        return found

    @cached_property
    def _by_length(self) -> list[list[str]]:
        return [text.split("\n") for text in self._texts]


Found = tuple[int, int, int]
"""Where a line begins, where it first holds what was looked for, where it ends."""


class Lines:
    """Lines that are found by what they hold, in whatever case."""

    def __init__(self, text: str) -> None:
        """Of a text that begins and ends with the end of a line."""
        self.text = text
        self._lowered = _lowered(text)
        self._is_simple = text.isascii() and "::" not in text
        self._last: tuple[str, list[Found], int] = ("", [], 0)
        """What was last looked for, the lines that hold it, and up to where these are all."""

    def holding(self, text: str, limit: int) -> list[Found]:
        """The first lines that hold ``text``. When a letter was typed behind those of last time,
        its lines are looked through instead of all."""
        wanted, lines = _lowered(text), self._lowered
        last, found, at = self._last
        if "\n" in wanted:
            return []
        if last and last in wanted:
            narrowed = [(start, lines.find(wanted, start, end), end) for start, _, end in found]
            found = [one for one in narrowed if one[1] >= 0]
        else:
            found, at = [], 0
        while len(found) < limit and at < len(lines):
            place = lines.find(wanted, at)
            if place < 0:
                at = len(lines)
            else:
                at = lines.index("\n", place)
                found.append((lines.rfind("\n", 0, place) + 1, place, at))
        self._last = wanted, found, at
        return found[:limit]

    def ranks(self, wanted: Wanted, text: str, found: Sequence[Found]) -> list[int] | None:
        """How well the lines fit that were found by ``text``; None where it takes to know more
        of them than where they hold it."""
        if self._is_simple and wanted.text == text.lower():
            return wanted.ranks_in(self._lowered, found)
        return None


def _lowered(text: str) -> str:
    """A text in lower case, as long as it was: a letter that would become two stays."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
