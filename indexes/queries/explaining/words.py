"""Explains what a user asks about in words: a field, a macro, a note, or a line of a file."""

from __future__ import annotations

from collections.abc import Callable

from indexes.model.errors import NotFound
from indexes.model.lines import placed
from indexes.queries.explaining import macros, notes
from indexes.queries.explaining.fields import Explanation, Fields
from indexes.queries.explaining.lines import explain_line
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.notes import written_title
from indexes.source.source import Source


def explain_words(source: Source, opened: Callable[[], IndexedTree], text: str) -> Explanation:
    """What the tree itself says about a text.

    Parameters:
        source: The tree.
        opened: Opens its index, which fields alone do not need.
        text: A field or tag, a macro, the title of a note or a reference to one, ``path:line``.

    Raises:
        NotFound: It says nothing; with similar names.
    """
    if text.isupper():
        return macros.explain(opened(), source, text)
    if title := written_title(text):
        return notes.explain(opened(), title)
    if place := placed(text):
        index = opened()
        return explain_line(index, index.facts.whole_path(place[0]), place[1])
    try:
        return Fields(source).explain(text)
    except NotFound as error:
        return _note(opened(), text, error)


def _note(index: IndexedTree, words: str, error: NotFound) -> Explanation:
    """The notes with words in their titles; raises ``error`` without one."""
    try:
        return notes.explain(index, words)
    except NotFound:
        raise error from None
