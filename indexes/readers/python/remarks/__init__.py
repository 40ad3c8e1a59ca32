"""What a Python file or a page says of itself and of names: what docstrings say of arguments, which
names and files they link, by which comments a file is excused from a check."""

from __future__ import annotations

from indexes.model.files import RemarkFact
from indexes.readers.python.remarks.docstrings import read_arguments
from indexes.readers.python.remarks.links import read_file_links, read_roles
from indexes.readers.python.remarks.marks import read_internal_calls, read_mark


def read_remarks(data: bytes, path: str) -> list[RemarkFact]:
    """The remarks of a file, those of each kind by line."""
    text = data.decode("utf-8", "replace")
    links = [*read_roles(text, path), *read_file_links(text, path)]
    if not path.endswith(".py"):
        return links
    marks = (*read_mark(text), *read_internal_calls(text, path))
    return [*read_arguments(text, path), *links, *marks]
