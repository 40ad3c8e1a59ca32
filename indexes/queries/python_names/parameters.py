"""Parameters of documented functions and classes by name: ``weights_only``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.model.answers import Hit
from indexes.model.files import module_name
from indexes.model.idioms import close
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.python_names.finding import finder_of, is_private, naming
from indexes.readers.python.blocks import Head, Text

_COMMENT = regex(r"\s#.*")
_LONGEST = 10_000
"""Most characters read of a signature."""


def taking(name: str, index: IndexedTree) -> list[Hit]:
    """The documented functions and classes that have a parameter, those with short names first."""
    finder = finder_of(index)
    pages = {fact.target for _, fact in index.facts.python.of_kinds("page")}
    found: dict[str, Location] = {}
    for path in naming(name, index):
        for head in _heads(name.encode(), index.source.content(path)):
            public = finder.shortened(f"{module_name(path)}.{_called(head)}")
            if public in pages and not is_private(public):
                found.setdefault(public, Location(path, head.line))
    named = sorted(found.items(), key=lambda one: (one[0].count("."), one[0]))
    text = f"has a parameter {name}"
    return [Hit("function", public, where, text) for public, where in named]


def _heads(name: bytes, data: bytes) -> Iterator[Head]:
    given = re.compile(rb"[(,*]\s*%b\s*[:=,)]" % re.escape(name))
    text = Text(data)
    for head in text.heads:
        if not head.is_class and (head.parent < 0 or text.heads[head.parent].is_class):
            written = _COMMENT.sub(
                "", data[head.start : head.start + _LONGEST].decode(errors="replace")
            )
            opened = written.find("(")
            if given.search(written[opened : close(written, opened) + 1].encode()):
                yield head


def _called(head: Head) -> str:
    """The callable; for a constructor the class."""
    return head.qualified.removesuffix(".__init__")
