"""Tests that name an operator: by their own name, and by what their body calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from indexes.linking.python_paths import Found, PythonIndex
from indexes.model import Location
from indexes.readers.python_lines import Spans, statement_end, triple_quoted

_TELLING = 4
"""A method with a shorter name (``.to(``, ``.add(``) may be anything's."""
MAX_TESTS = 40
"""More than these are rather found by a search."""


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


def tests_naming(
    words: tuple[str, ...], facts: PythonIndex, read: Callable[[str], bytes | None] | None
) -> tuple[NamedTest, ...]:
    """Tests with one of the words in their name, those that call it by its full name first.

    With ``read``, a test whose body does not call it is left out."""
    texts = _Texts(read)
    found: dict[tuple[str, str], NamedTest] = {}
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
    ordered = sorted(found.values(), key=lambda test: not test.qualified)
    return tuple(ordered[:MAX_TESTS])


@cache
def _names(word: str) -> re.Pattern[str]:
    """A whole word of a test's name: ``add`` in ``test_add_out``, not in ``test_addmm``."""
    return re.compile(rf"(?:^|_){re.escape(word)}(?:_|$)", re.IGNORECASE)


@cache
def _calls(word: str) -> re.Pattern[bytes]:
    name = re.escape(word).encode()
    return re.compile(
        rb"(?P<full>(?<![\w.])(?:torch|aten|F|nn|refs|prims)(?:\.\w+)*\.%s_?(?:\.\w+)?\()"
        rb"|(?P<method>\.%s_?\()" % (name, name)
    )


def _checked(found: Found, word: str, texts: _Texts) -> NamedTest | None:
    path, fact = found
    text, spans = texts.get(path)
    start = texts.offset(path, fact.line)
    if start < 0:
        return None
    indent = len(text[start:]) - len(text[start:].lstrip(b" \t"))
    end = statement_end(text, start, indent, spans)
    calls = list(_calls(word).finditer(text, start, end))
    if not calls:
        return None
    best = next((call for call in calls if call["full"]), calls[0])
    if not best["full"] and len(word) < _TELLING:
        return None
    line = fact.line + text.count(b"\n", start, best.start())
    last = fact.line + text.count(b"\n", start, end)
    written = best[0].decode("utf-8", "replace").rstrip("(")
    return NamedTest(
        path, fact.symbol, fact.line, last, word, written, bool(best["full"]),
        (Location(path, line, line),),
    )  # fmt: skip


class _Texts:
    """The files looked at, each read once."""

    def __init__(self, read: Callable[[str], bytes | None] | None) -> None:
        self._read = read
        self._texts: dict[str, tuple[bytes, Spans]] = {}
        self._starts: dict[str, list[int]] = {}

    def get(self, path: str) -> tuple[bytes, Spans]:
        if path not in self._texts:
            text = (self._read(path) if self._read else None) or b""
            self._texts[path] = (text, triple_quoted(text))
            self._starts[path] = [0, *(match.end() for match in re.finditer(rb"\n", text))]
        return self._texts[path]

    def offset(self, path: str, line: int) -> int:
        starts = self._starts[path]
        return starts[line - 1] if 0 < line <= len(starts) else -1
