"""What the tree says about a line: of a note, a field of its YAML files, or a macro."""

from __future__ import annotations

from indexes.queries.explaining import macros, notes
from indexes.queries.explaining.fields import Explanation, Fields
from indexes.queries.indexed_tree import IndexedTree


def explain_line(index: IndexedTree, path: str, line: int) -> Explanation:
    """The note that a line is of or refers to; else the field or the first macro on it.

    Raises:
        NotFound: The line has none of them.
    """
    if note := notes.on_line(index, path, line):
        return note
    if path.endswith(".yaml"):
        return Fields(index.source).at(path, line)
    return macros.on_line(index, index.source, path, line)
