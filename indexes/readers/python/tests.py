"""Test functions of ``test/``: name, class, line, and calls of what their name mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from indexes.model.files import PythonFact, pack
from indexes.model.regex import regex
from indexes.readers.python.blocks import Head, Text, heads, occurrences, statement_end

_TEST_FILE = regex(r"(?:^|/)test/(?:.*/)?[^/]*\.py$")
_OWNERS = regex(rb"#[ \t]*Owner\(s\):[ \t]*(\[[^\]\n]*\])")
_HEADER = 4096
"""The first lines of a file, which hold ``# Owner(s):``."""


def is_test_file(path: str) -> bool:
    """Whether a file belongs to PyTorch's own test suite."""
    return "test/" in path and _TEST_FILE.search(path) is not None


def read_tests(text: Text) -> list[PythonFact]:
    """Test functions with their calls of words in their names, classes, and the file's owners."""
    found = heads(text.data, text.strings, (b"def test", b"class "))
    facts = [
        PythonFact("class" if one.is_class else "test", "", one.qualified, one.line, 0)
        for one in found
        if one.is_class or _collected(one, found) is one
    ]
    calls = (fact for at in range(len(found)) for fact in _named_calls(text, found, at))
    return [*read_owners(text.data), *facts, *calls]


def _collected(test: Head, every: Sequence[Head]) -> Head:
    """The test that is run for a function: a function in a test is none of its own."""
    parents = [test]
    while parents[-1].parent >= 0:
        parents.append(every[parents[-1].parent])
    return next(one for one in reversed(parents) if not one.is_class)


# ------------------------------------------------------------------------ named and called

_CALL = regex(rb"\.(\w+)(\.\w+)?[(,)\]]")
"""A call, or a function that is passed on."""
_ROOTS = frozenset((b"torch", b"aten", b"F", b"nn", b"refs", b"prims"))
_DOTTED = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."
_TELLING = 4
"""Fewest letters of a method's name; shorter ones (``.to(``, ``.add(``) may be anything's."""


class _Call(NamedTuple):
    word: bytes
    text: bytes
    """``torch.add(`` or ``torch.add,``, or ``.add(`` on an object."""
    offset: int
    qualified: bool
    """Whether it names the function in PyTorch's namespace."""


def _named_calls(text: Text, every: Sequence[Head], place: int) -> Iterator[PythonFact]:
    """The first call of each word in a test's name, by its full name if there is one."""
    test, following = every[place], islice(every, place + 1, None)
    after = (one.start for one in following if one.indent <= test.indent)
    body = b"" if test.is_class else text.data[test.start : next(after, None)]
    calls = [call for words in _words(test.name) for call in _calls_of(body, words)]
    if not calls:
        return
    end = statement_end(text.data, test.start, test.indent, text.strings) - test.start
    last = test.line + body.count(b"\n", 0, end)
    chosen: dict[bytes, _Call] = {}
    for call in sorted(calls, key=lambda one: (not one.qualified, one.offset)):
        if call.offset < end:
            chosen.setdefault(call.word, call)
    for word, call in chosen.items():
        line = test.line + body.count(b"\n", 0, call.offset)
        written = call.text.decode("utf-8", "replace").rstrip("(,)]")
        detail = pack(calls=written, at=line, qualified=int(call.qualified))
        symbol = _collected(test, every).qualified
        yield PythonFact("test_call", word.decode(), symbol, test.line, last, detail)


def _words(name: str) -> Iterator[bytes]:
    """The words and word pairs of a test's name: ``add``, ``out``, ``add_out`` for
    ``test_add_out``."""
    parts = name.encode().split(b"_")
    for first in range(len(parts)):
        for last in range(first, len(parts)):
            if parts[first] and parts[last]:
                yield b"_".join(parts[first : last + 1])


def _calls_of(body: bytes, word: bytes) -> Iterator[_Call]:
    """The calls ``torch.add(`` and ``.add(`` of a word, and of its in-place form; ``torch.add``
    passed to what calls it."""
    at = body.find(b"." + word)
    while at >= 0:
        found = _CALL.match(body, at)
        if found and found[1] in (word, word + b"_"):
            line = body.rfind(b"\n", 0, at) + 1
            before = body[line:at]
            path = before[len(before.rstrip(_DOTTED)) :]
            root, *parts = path.split(b".")
            if root in _ROOTS and all(parts):
                yield _Call(word, path + found[0], at - len(path), True)
            elif found[0].endswith(b"(") and not found[2] and len(word) >= _TELLING:
                yield _Call(word, found[0], at, False)
        at = body.find(b"." + word, at + 1)


def read_owners(data: bytes) -> list[PythonFact]:
    """``# Owner(s): ["module: nn"]``: the triage labels of a test file."""
    for at in occurrences(data, b"Owner(s):", 0, _HEADER):
        start = data.rfind(b"\n", 0, at) + 1
        if match := _OWNERS.match(data, start, _HEADER):
            line = data.count(b"\n", 0, start) + 1
            labels = re.findall(r"[\"']([^\"']+)[\"']", match[1].decode("utf-8", "replace"))
            return [PythonFact("owner", "", label, line, line) for label in labels]
    return []
