"""Names to search in, kept in memory once they are asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import Any, NamedTuple

from indexes.known_names import KnownNames
from indexes.store import Store


class Candidate(NamedTuple):
    """Something with a fitting name; the rest is only fetched for the best."""

    kind: str
    name: str
    key: Any
    """What fetches the rest of it, where the name does not: a definition's number, say."""


class Names:
    """What there is of one kind, the shortest names first. The name begins each row."""

    def __init__(self, kind: str, rows: Sequence[tuple[Any, ...]]) -> None:
        self._kind = kind
        self._rows = sorted(rows, key=lambda row: len(row[0]))
        lowered = [row[0].lower() for row in self._rows]
        self._text = "\n".join(lowered)
        self._ends = list(accumulate(len(name) + 1 for name in lowered))

    def holding(self, text: str, limit: int) -> list[Candidate]:
        """Those whose name holds a text, in whatever case."""
        rows = (self._rows[at] for at in islice(self._holding(text.lower()), limit))
        return [Candidate(self._kind, row[0], row[1:]) for row in rows]

    def _holding(self, wanted: str) -> Iterator[int]:
        found = self._text.find(wanted) if "\n" not in wanted else -1
        while found >= 0:
            at = bisect_right(self._ends, found)
            yield at
            found = self._text.find(wanted, self._ends[at])


class Catalogue:
    """The names of one index, read when they are first searched."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @cached_property
    def operators(self) -> Names:
        """Every overload."""
        return self._names("operator", "SELECT full_name FROM ops ORDER BY position")

    @cached_property
    def nodes(self) -> Names:
        """Every Node class, with an operator that records it and its derivative entry."""
        return self._names(
            "grad_fn",
            "SELECT grad_fn,op,position FROM nodes WHERE position IS NOT NULL GROUP BY grad_fn",
        )

    @cached_property
    def stubs(self) -> Names:
        """Every stub, at its definition, or where it is declared: a macro makes its name."""
        return self._names(
            "stub",
            "SELECT u.stub,f.path,u.line,u.name,u.arguments,min(u.name NOT LIKE 'DEFINE%')"
            " FROM uses u JOIN files f ON f.id=u.file"
            " WHERE u.stub IS NOT NULL AND u.name NOT LIKE '%REGISTER%' GROUP BY u.stub",
        )

    @cached_property
    def files(self) -> Names:
        """The path of every file."""
        return self._names("file", "SELECT path FROM files ORDER BY path")

    @cached_property
    def defined(self) -> KnownNames:
        """Every name that is defined in C++."""
        return KnownNames(self._store.query("SELECT names FROM names ORDER BY length"))

    def _names(self, kind: str, sql: str) -> Names:
        return Names(kind, self._store.query(sql))
