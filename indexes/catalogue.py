"""Names to search in, kept in memory once they are asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice

from indexes.known_names import KnownNames
from indexes.store import Store
from indexes.typed import Any, NamedTuple


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


class _Kind:
    """The names of one kind. The first question is asked of the index file; who asks more gets
    its answers from memory."""

    def __init__(self, store: Store, kind: str, name: str, sql: str) -> None:
        self._store = store
        self._kind = kind
        self._name = name
        self._sql = sql
        """Where ``{}`` stands for a condition."""
        self._asked = False

    def holding(self, text: str, limit: int) -> list[Candidate]:
        """Those whose name holds a text, in whatever case, the shortest first."""
        if not self._asked and text.isascii():
            self._asked = True
            fits = f"{self._name} LIKE ? ESCAPE '\\'"
            rows = self._store.query(self._sql.format(fits), (like(text),))
            return Names(self._kind, rows).holding(text, limit)
        return self._all.holding(text, limit)

    @cached_property
    def _all(self) -> Names:
        return Names(self._kind, self._store.query(self._sql.format(1)))


def like(text: str) -> str:
    """The pattern of SQL's LIKE, with ``ESCAPE '\\'``, for what holds a text."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


class Catalogue:
    """The names of one index."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.operators = _Kind(
            store, "operator", "full_name", "SELECT full_name FROM ops WHERE {} ORDER BY +position"
        )
        """Every overload."""
        self.nodes = _Kind(
            store, "grad_fn", "grad_fn",
            "SELECT grad_fn,op,position FROM nodes WHERE {} AND position IS NOT NULL"
            " GROUP BY grad_fn",
        )  # fmt: skip
        """Every Node class, with an operator that records it and its derivative entry."""
        self.stubs = _Kind(
            store, "stub", "u.stub",
            "SELECT u.stub,f.path,u.line,u.name,u.arguments,min(u.name NOT LIKE 'DEFINE%')"
            " FROM uses u JOIN files f ON f.id=u.file"
            " WHERE {} AND u.stub IS NOT NULL AND u.name NOT LIKE '%REGISTER%' GROUP BY u.stub",
        )  # fmt: skip
        """Every stub, at its definition, or where it is declared: a macro makes its name."""
        self.files = _Kind(store, "file", "path", "SELECT path FROM files WHERE {} ORDER BY path")
        """The path of every file."""

    @cached_property
    def defined(self) -> KnownNames:
        """Every name that is defined in C++."""
        return KnownNames(self._store.query("SELECT names FROM names ORDER BY length"))
