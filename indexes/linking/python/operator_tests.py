"""Tests that name an operator: by their own name, and by what their body calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from indexes.linking.python.paths import Found, PythonIndex
from indexes.model.vocabulary import Location
from indexes.readers.python.blocks import occurrences, statement
from indexes.readers.python.facts import PythonFact

_TELLING = 4
"""A method with a shorter name (``.to(``, ``.add(``) may be anything's."""
MAX_TESTS = 40
"""More than these are rather found by a search."""


Reader = Callable[[str], bytes | None] | None
"""Gives the text of a file of the tree, if there is one to ask."""


@dataclass(frozen=True, slots=True)
class NamedTest:
    """A test function whose name has an operator's name in it."""

    path: str
    symbol: str
    line: int
    end_line: int
    word: str
    call: str = ""
    """How the body calls it: ``torch.add(``, or ``.add(`` on something; empty when not read."""
    qualified: bool = False
    """Whether the call names the function in PyTorch's namespace."""
    evidence: tuple[Location, ...] = ()


def tests_naming(words: tuple[str, ...], facts: PythonIndex, read: Reader) -> tuple[NamedTest, ...]:
    """Tests with one of the words in their name, those that call it by its full name first.

    With ``read``, a test whose body does not call it is left out."""
    texts = _Texts(read)
    found: dict[tuple[str, str], NamedTest] = {}
    certain = 0
    for word in words:
        for path, fact in facts.tests_containing(word):
            if fact.kind != "test" or (path, fact.symbol) in found:
                continue
            if not _names(word).search(fact.symbol.rpartition(".")[2]):
                continue
            test = _checked((path, fact), word, texts) if read else None
            if read is None:
                test = NamedTest(path, fact.symbol, fact.line, fact.end_line, word)
            if test:
                found[path, fact.symbol] = test
                certain += test.qualified
            if certain == MAX_TESTS:  # the rest would stand behind these
                return tuple(one for one in found.values() if one.qualified)
    ordered = sorted(found.values(), key=lambda test: not test.qualified)
    return tuple(ordered[:MAX_TESTS])


@cache
def _names(word: str) -> re.Pattern[str]:
    """A whole word of a test's name: ``add`` in ``test_add_out``, not in ``test_addmm``."""
    return re.compile(rf"(?:^|_){re.escape(word)}(?:_|$)", re.IGNORECASE)


_ROOTS = frozenset((b"torch", b"aten", b"F", b"nn", b"refs", b"prims"))
_DOTTED = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."


@cache
def _called(word: str) -> re.Pattern[bytes]:
    return re.compile(rb"\.%s_?(\.\w+)?\(" % re.escape(word).encode())


def _calls(body: bytes, word: str) -> Iterator[tuple[int, bytes, bool]]:
    """Offset and text of each ``torch.add(``, and of each ``.add(`` on something; the former
    with True."""
    for found in _called(word).finditer(body):
        line = body.rfind(b"\n", 0, found.start()) + 1
        before = body[line : found.start()]
        path = before[len(before.rstrip(_DOTTED)) :]
        root, *parts = path.split(b".")
        if root in _ROOTS and all(parts):
            yield found.start() - len(path), path + found[0], True
        elif not found[1]:
            yield found.start(), found[0], False


def _checked(found: Found, word: str, texts: _Texts) -> NamedTest | None:
    path, fact = found
    source, start = texts.at(path, fact)
    if start < 0:
        return None
    body = statement(source, start, _indent(source, start))
    calls = list(_calls(body, word))
    if not calls:
        return None
    at, text, full = next((call for call in calls if call[2]), calls[0])
    if not full and len(word) < _TELLING:
        return None
    line = fact.line + body.count(b"\n", 0, at)
    last = fact.line + body.count(b"\n")
    written = text.decode("utf-8", "replace").rstrip("(")
    called_at = (Location(path, line, line),)
    return NamedTest(path, fact.symbol, fact.line, last, word, written, full, called_at)


def _indent(text: bytes, start: int) -> int:
    at = start
    while text[at : at + 1] in (b" ", b"\t"):
        at += 1
    return at - start


class _Texts:
    """The files looked at, each read once."""

    def __init__(self, read: Reader) -> None:
        self._read = read
        self._texts: dict[str, bytes] = {}
        self._places: dict[str, tuple[int, int]] = {}
        """Where a file was last looked at: an offset and its line."""

    def at(self, path: str, fact: PythonFact) -> tuple[bytes, int]:
        """A file, and where the line of a test begins in it; -1 where it is not there."""
        if path not in self._texts:
            self._texts[path] = (self._read(path) if self._read else None) or b""
        text = self._texts[path]
        offset, line = self._places.get(path, (0, 1))
        if fact.line < line:
            offset, line = 0, 1
        head = b"def " + fact.symbol.rpartition(".")[2].encode()
        for found in occurrences(text, head, offset):
            line += text.count(b"\n", offset, found)
            offset = found
            if line >= fact.line:
                break
        self._places[path] = offset, line
        return text, text.rfind(b"\n", 0, offset) + 1 if line == fact.line else -1
