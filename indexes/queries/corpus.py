"""Finds words in the indexed files, which are read on demand since the index has no texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from indexes.linking.facts import Call, Known
from indexes.model.lines import LineCount
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.readers.cxx.lexer import Lexed, lex
from indexes.readers.cxx.scopes import decode
from indexes.store.lookup import Lookup

_BEFORE = regex(r"((?:\w+(?:<[^<>;(){}]*>)?::)+)\s*$")
_MEMBER = regex(r"(?:\.|->)\s*(?:template\s+)?$")
_CALLED = regex(r"\s*(?:<[^;(){}=]*>)?\s*(\(|<<<)")
_FUNCTIONS = ("function", "impl_func", "meta_func", "macro_use")
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_BACK = 120
"""Characters before a name that may hold its qualifier or receiver."""


class Mention(NamedTuple):
    """An occurrence of a name in code."""

    call: Call
    caller: Known | None
    """The enclosing function; None at file scope."""
    location: Location


class Corpus:
    """The texts of the indexed files, each read and cleaned once."""

    def __init__(self, facts: Lookup, read: Callable[[str], bytes]) -> None:
        self._facts = facts
        self.paths = cache(facts.paths)
        """The indexed files of a kind: ``cpp``, ``python``, ``test``."""
        self.text = cache(read)
        """The content of a file; empty when it can't be read."""
        self.lexed = lru_cache(2048)(self._lexed)
        self._functions = lru_cache(2048)(self._functions_in)

    def _lexed(self, path: str) -> Lexed:
        return lex(decode(self.text(path)))

    def clean(self, path: str) -> str:
        """A C++ file without comments and contents of strings."""
        return self.lexed(path).clean

    def files_with(
        self, word: str, kind: str, wanted: Callable[[str], bool] = lambda path: True
    ) -> Iterator[str]:
        """The ``wanted`` files whose text contains a word, also inside longer words."""
        sought = word.encode()
        for path in self.paths(kind):
            if wanted(path) and sought in self.text(path):
                yield path

    def mentions(
        self, name: str, wanted: Callable[[str], bool] = lambda path: True
    ) -> Iterator[Mention]:
        """Every use of a name in the ``wanted`` C++ files, outside macro bodies."""
        # A literal first: the engine then skips to it, which a look-behind would not let it.
        word = re.compile(rf"{re.escape(name)}(?!\w)")
        for path in self.files_with(name, "cpp", wanted):
            clean = self.clean(path)
            line_of = LineCount(clean)
            for found in word.finditer(clean):
                if clean[found.start() - 1 : found.start()] in _WORD:
                    continue
                yield self._mention(name, path, clean, found.start(), line_of(found.start()))

    def _mention(self, name: str, path: str, clean: str, at: int, line: int) -> Mention:
        before = clean[max(0, at - _BACK) : at]
        qualified = _BEFORE.search(before)
        member = None if qualified else _MEMBER.search(before)
        called = _CALLED.match(clean, at + len(name))
        kind = "name"
        if called:
            kind = "launch" if called[1] == "<<<" else "call"
        if member:
            kind = "member"
        qualifier = re.sub(r"<[^<>]*>", "", qualified[1])[:-2] if qualified else ""
        call = Call(name, qualifier, line, kind, "")
        return Mention(call, self.around(path, line), Location(path, line))

    def around(self, path: str, line: int) -> Known | None:
        """The innermost function around a line."""
        best: Known | None = None
        for known in self._functions(path):
            where = known.definition.location
            if where.line <= line <= where.end_line and (
                best is None or where.line >= best.definition.location.line
            ):
                best = known
        return best

    def _functions_in(self, path: str) -> list[Known]:
        found = self._facts.definitions_in(path)
        return [known for known in found if known.definition.kind in _FUNCTIONS]
