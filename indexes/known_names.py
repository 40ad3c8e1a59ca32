"""The names that are defined in C++, kept by length, to be searched for by what they hold."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from indexes.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


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
        self._names = "\n".join(["", *(names for (names,) in rows), ""])
        self._lines = Lines(self._names)

    def holding(self, word: str, limit: int) -> list[str]:
        """The first names that hold ``word``, in whatever case, the shortest first."""
        return [self._names[start:end] for start, end in self._lines.holding(word, limit)]

    def beginning(self, word: str) -> Iterator[str]:
        """The names that begin so, the shortest first."""
        names, wanted = self._names, f"\n{word}"
        at = names.find(wanted) if "\n" not in word else -1
        while at >= 0:
            end = names.index("\n", at + 1)
            yield names[at + 1 : end]
            at = names.find(wanted, end)


class Lines:
    """Lines that are found by what they hold, in whatever case."""

    def __init__(self, text: str) -> None:
        """Of a text that begins and ends with the end of a line."""
        self._text = _lowered(text)
        self._last: tuple[str, list[tuple[int, int]], int] = ("", [], 0)
        """What was last looked for, the lines that hold it, and up to where these are all."""

    def holding(self, text: str, limit: int) -> list[tuple[int, int]]:
        """Where the first lines that hold ``text`` begin and end. When a letter was typed
        behind those of last time, its lines are looked through instead of all."""
        wanted, lines = _lowered(text), self._text
        last, found, at = self._last
        if "\n" in wanted:
            return []
        if not last or last not in wanted:
            found, at = [], 0
        found = [one for one in found if lines.find(wanted, *one) >= 0]
        while len(found) < limit and at < len(lines):
            at = lines.find(wanted, at)
            if at < 0:
                at = len(lines)
            else:
                start, at = lines.rfind("\n", 0, at) + 1, lines.index("\n", at)
                found.append((start, at))
        self._last = wanted, found, at
        return found[:limit]


def _lowered(text: str) -> str:
    """A text in lower case, as long as it was: a letter that would become two stays."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
