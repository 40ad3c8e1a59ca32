"""Titles of PyTorch's notes: ``Note [Alias Dispatch Keys]``."""

from __future__ import annotations

from indexes.model.answers import Hit, NameMatch
from indexes.model.regex import regex
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.near import near
from indexes.queries.naming.query import NameQuery, match_of
from indexes.readers.notes import titled
from indexes.store.notes import Note, StoredNotes

_REFERENCE = regex(
    r"[\s/*#]*(?:[Ss]ee\s+(?:also\s+)?)?(?:NOTE|Note|note):?\s?\[([^\[\]]{2,200})\][\s.:*/]*"
)
_LIKE = 0.8
"""The similarity of titles that may be meant."""


def written_title(text: str) -> str:
    """The title in ``Note [Title]`` or ``// See Note [Title]``; empty for another text."""
    found = _REFERENCE.fullmatch(text)
    return titled(found[1]) if found else ""


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The note of ``See Note [Title]``, which means nothing else."""
    if not (title := written_title(query.raw)):
        return None
    meant = near_titles(title, StoredNotes(index.facts.store))
    unknown = NameMatch("none", query.raw.strip(), suggestions=meant, confidence=None)
    return _match(title, index) or unknown


def find_title(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The note with a title of several words, as that alone."""
    return _match(query.raw.strip(" []"), index)


def _match(title: str, index: IndexedTree) -> NameMatch | None:
    """A note, then the lines that refer to it; only those if no comment has the title. None if
    nothing does."""
    stored = StoredNotes(index.facts.store)
    heads, mentions = stored.titled(title)
    hits = [Hit("note", one.title, one.location) for one in heads]
    hits += [Hit("mention", one.title, one.location, _line(one, index)) for one in mentions]
    others = () if heads else near_titles(title, stored)
    note = "" if heads else "no comment of this source has this title"
    note += f"; near titles: {', '.join(others)}" if others else ""
    return match_of("note", title, hits, note, "exact" if len(heads) == 1 else "ambiguous")


def near_titles(title: str, notes: StoredNotes) -> tuple[str, ...]:
    """Titles of notes that may be meant."""
    heads = (one.title for one in notes.all if one.has_text)
    return near(title, dict.fromkeys(heads), 2, _LIKE)


def _line(note: Note, index: IndexedTree) -> str:
    lines = index.read(note.location.path).split("\n")
    return lines[note.location.line - 1].strip() if note.location.line <= len(lines) else ""
