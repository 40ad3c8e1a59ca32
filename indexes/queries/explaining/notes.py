"""PyTorch's own notes: the text of ``Note [Title]`` and what refers to it."""

from __future__ import annotations

from indexes.model.errors import NotFound
from indexes.queries.explaining.fields import Explanation, Passage
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.notes import near_titles
from indexes.store.notes import Note, StoredNotes

_MOST = 3
"""Most notes whose title has a word."""


def explain(index: IndexedTree, title: str) -> Explanation:
    """The text of a note, and the places that refer to it; for words in titles those notes.

    Raises:
        NotFound: No title has the words.
    """
    stored = StoredNotes(index.facts.store)
    heads, mentions = stored.titled(title)
    heads = heads or stored.holding(title, _MOST)
    if not heads:
        first = f"; {mentions[0].location} refers to it" if mentions else ""
        words = f"no comment of this source is headed Note [{title}]{first}"
        raise NotFound(words, near_titles(title, stored))
    passages = tuple(_passage(one, index) for one in heads)
    return Explanation(title, passages, (), tuple(one.location for one in mentions))


def on_line(index: IndexedTree, path: str, line: int) -> Explanation | None:
    """The note that a line refers to or belongs to; None without one."""
    found = StoredNotes(index.facts.store).at(path, line)
    there = sorted(found, key=lambda one: one.location.line, reverse=True)
    return explain(index, there[0].title) if there else None


def _passage(note: Note, index: IndexedTree) -> Passage:
    where = note.location
    lines = index.read(where.path).split("\n")[where.line - 1 : where.end_line]
    return Passage(where, "\n".join(lines))
