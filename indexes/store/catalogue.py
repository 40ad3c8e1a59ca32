"""Names to search in, kept in memory once they are asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from indexes.store.index_file import Store
from indexes.store.lookup import like
from indexes.store.name_index import Found, KnownNames, Lines

Row = tuple[Any, ...]
"""Of something with a name, which comes first; what fetches the rest of it follows."""


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
        return KnownNames(self._store.query("SELECT names FROM names ORDER BY length"))

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
