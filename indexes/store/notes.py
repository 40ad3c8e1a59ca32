"""PyTorch's notes: titled comments that others refer to by ``See Note [Title]``."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from indexes.model.vocabulary import Location
from indexes.store.index_file import Store

_NOTES = (
    "SELECT r.kind,r.name,f.path,r.line,r.detail FROM remarks r JOIN files f ON f.id=r.file"
    " WHERE r.kind IN ('note','mention')"
)


class Note(NamedTuple):
    """A note, or a place that refers to one."""

    title: str
    location: Location
    has_text: bool
    """Whether the title heads a comment; a title alone heads what follows, or refers."""
    is_mention: bool


class StoredNotes:
    """The notes of an index."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def titled(self, title: str) -> tuple[list[Note], list[Note]]:
        """The notes of a title, in whatever case, and the places that refer to them. A title
        alone is a note only where no other has text."""
        found = [one for one in self.all if one.title.casefold() == title.casefold()]
        heads = [one for one in found if one.has_text] or [o for o in found if not o.is_mention]
        return heads, [one for one in found if one not in heads]

    def at(self, path: str, line: int) -> list[Note]:
        """Those that a line belongs to or refers to."""
        return [one for one in self._of(" AND f.path=?", path) if one.location.covers(line)]

    def holding(self, text: str, most: int) -> list[Note]:
        """Notes with a text in their title, which others can refer to."""
        wanted = text.casefold()
        return [one for one in self.all if one.has_text and wanted in one.title.casefold()][:most]

    @cached_property
    def all(self) -> list[Note]:
        """All of them, by place."""
        return self._of("")

    def _of(self, condition: str, *values: str) -> list[Note]:
        rows = self._store.query(f"{_NOTES}{condition} ORDER BY f.path,r.line", values)
        return [
            Note(title, Location(path, line, int(last or line)), bool(last), kind == "mention")
            for kind, title, path, line, last in rows
        ]
