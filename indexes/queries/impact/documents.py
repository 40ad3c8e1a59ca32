"""What a change of documentation is about: the names that changed lines of a page, or changed
docstrings, document, and the commands that make and check the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from indexes.model.files import PythonFact
from indexes.model.impact import Check
from indexes.model.regex import regex
from indexes.readers.cxx.scopes import decode
from indexes.readers.python.blocks import Text
from indexes.readers.python.docs import read_docstrings, read_page
from indexes.source.source import Source

if TYPE_CHECKING:
    from indexes.queries.impact.changed_text import TextChange

_ROLE = regex(r":(?:\w+:)?(?:func|meth|class|attr|mod|obj|data|exc):`[~!]?(?:[^`<]*<)?([\w.]+)")


def changed_lines(old: bytes, new: bytes) -> list[int]:
    """The lines of a new text that are not in the old one, and those beside what is gone."""
    before, after = decode(old).split("\n"), decode(new).split("\n")
    found: list[int] = []
    for tag, _, _, first, last in SequenceMatcher(None, before, after, False).get_opcodes():
        if tag != "equal":
            found += range(first + 1, max(last, first + 1) + 1)
    return found


def documented_by_page(old: bytes, new: bytes, path: str) -> list[tuple[str, int]]:
    """The names that the changed lines of a page list or refer to, each with its line; of lines
    that are gone those that they listed."""
    lines = changed_lines(old, new)
    facts = [(f.target, f.line) for f in read_page(new, path) if f.line in lines]
    kept = {fact.target for fact in read_page(new, path)}
    at = lines[0] if lines else 1
    gone = [(f.target, at) for f in read_page(old, path) if f.target not in kept]
    text = decode(new).split("\n")
    named = [(name, n) for n in lines if n <= len(text) for name in _ROLE.findall(text[n - 1])]
    return list(dict(reversed([*facts, *gone, *named])).items())[::-1]


def docstrings_added(data: bytes, path: str, change: TextChange) -> list[PythonFact]:
    """The docstrings that a changed statement adds to functions of C++ (``add_docstr``)."""
    if b"add_docstr" not in data:
        return []
    facts, _ = read_docstrings(Text(data), path)
    return [f for f in facts if change.line <= f.line <= change.end_line]


def checks_of(source: Source, paths: Sequence[str]) -> tuple[Check, ...]:
    """The commands that the tree's guides have for changed documentation."""
    from indexes.queries.contribution.guides import Guides

    commands = Guides(source).commands_for(paths, docs=True) if paths else ()
    return tuple(Check(one.purpose, one.text, one.location, one.note) for one in commands)
