"""Names to search in, kept in memory once they are asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from indexes.store.index_file import Store
from indexes.store.lookup import like

if TYPE_CHECKING:
    from indexes.queries.search import Wanted

Row = tuple[Any, ...]
"""Of something with a name, which comes first; what fetches the rest of it follows."""


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


class KnownNames:
    """The names to search in, the shortest first: a line of one text for each."""

    def __init__(self, names: Iterable[str]) -> None:
        """``names`` in the order of their letters."""
        self._names = sorted(names, key=len)
        self.lines = Lines("\n".join(["", *self._names, ""]))

    def beginning(self, word: str, limit: int) -> list[Found]:
        """The first names that begin so, the shortest first."""
        found: list[Found] = []
        start = 1
        for name in self._names:
            end = start + len(name)
            if name.startswith(word):
                found.append((start, start, end))
                if len(found) == limit:
                    break
            start = end + 1
        return found


class Names:
    """What there is of one kind, the shortest names first."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = sorted(rows, key=lambda row: len(row[0]))
        self.lines = Lines("\n".join(["", *(row[0] for row in self._rows), ""]))
        """The names."""
        self._ends = list(accumulate(len(row[0]) + 1 for row in self._rows))

    def row(self, found: Found) -> Row:
        """What has the name on a line."""
        return self._rows[bisect_left(self._ends, found[2])]


class Kind:
    """The names of one kind. The first question is asked of the index file; who asks more gets
    its answers from memory."""

    def __init__(self, store: Store, name: str, sql: str) -> None:
        self._store = store
        self._name = name
        self._sql = sql
        """Where ``{}`` stands for a condition."""
        self._asked = False

    def to_search(self, text: str) -> Names:
        """Those whose name holds a text, in whatever case, and perhaps others."""
        if not self._asked and text.isascii():
            self._asked = True
            fits = f"{self._name} LIKE ? ESCAPE '\\'"
            return Names(self._store.query(self._sql.format(fits), (like(text),)))
        return self._all

    @cached_property
    def _all(self) -> Names:
        return Names(self._store.query(self._sql.format(1)))


_PAGES = -8000
"""KiB of the index file that are kept at hand: names of one letter stand on more pages than are
kept without saying so."""


class Files(NamedTuple):
    """Files in the order of their paths."""

    order: Mapping[int, int]
    """Where each stands, by its number."""
    paths: Sequence[str]


class Catalogue:
    """The names of one index."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files = Files({}, ())
        store.query(f"PRAGMA cache_size={_PAGES}")
        self.operators = Kind(
            store, "full_name", "SELECT full_name FROM ops WHERE {} ORDER BY +position"
        )
        """Every overload."""
        self.nodes = Kind(
            store,
            "grad_fn",
            "SELECT grad_fn,op,position FROM nodes WHERE {} AND position IS NOT NULL"
            " GROUP BY grad_fn",
        )
        """Every Node class, with an operator that records it and its derivative entry."""
        self.stubs = Kind(
            store,
            "u.stub",
            "SELECT u.stub,f.path,u.line,u.name,u.arguments,min(macro_meaning(u.name)!='defined')"
            " FROM uses u JOIN files f ON f.id=u.file"
            " WHERE {} AND u.stub IS NOT NULL AND macro_meaning(u.name)!='registered'"
            " GROUP BY u.stub",
        )
        """Every stub, at its definition, or where it is declared: a macro makes its name."""
        self.files = Kind(store, "path", "SELECT path FROM files WHERE {} ORDER BY path")
        """The path of every file."""

    @cached_property
    def defined(self) -> KnownNames:
        """Every name that is defined in C++."""
        return KnownNames(self._store.column("SELECT DISTINCT name FROM definitions ORDER BY name"))

    @cached_property
    def top_names(self) -> frozenset[str]:
        """The names of files that stand in no folder, in lower case, without what follows a dot
        and without underscores around them."""
        sql = "SELECT path FROM files WHERE path NOT LIKE '%/%' OR path LIKE '%.%/%'"
        bases = [path.lower().partition(".")[0] for (path,) in self._store.query(sql)]
        return frozenset([base.strip("_") for base in bases])

    def files_at(self, files: Set[int]) -> Files:
        """The files with these numbers, and perhaps others. All are read once it is asked for
        others than the first time."""
        if not files <= self._files.order.keys():
            which = "1" if self._files.order else f"id IN ({','.join(map(str, files))})"
            rows = self._store.query(f"SELECT id,path FROM files WHERE {which} ORDER BY path")
            order = {number: at for at, (number, _) in enumerate(rows)}
            self._files = Files(order, [path for _, path in rows])
        return self._files
