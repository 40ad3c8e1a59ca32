"""String literals in C++ that name operators: calls by name, graph patterns, registrations."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from indexes.model.lines import LineCount
from indexes.model.regex import regex
from indexes.readers.cxx.lexer import Lexed

_RAW = regex(r'R"([^()\\\s"]{0,16})\([\s\S]*?\)\1"')
_GIVEN_TO = regex(r"(\w+)\s*(?:<[^<>;]*>)?\s*(?:\(\s*\{?|\{)\s*$")
_REGISTERED = regex(r"\.\s*(?:def|impl|op)(?:_UNBOXED)?\s*(?:<[^<>;]*>)?\(\s*(?:[\w:]+\s*\(\s*)*$")
_OVERLOAD = regex(r'"\s*,\s*"(\w*)"')
_BACK = 200
"""Characters before a literal that may hold the function it is passed to."""


class OperatorLiteral(NamedTuple):
    """A string literal with the name of an operator."""

    line: int
    overload: str | None
    """The overload; None if not given."""
    given_to: str
    """The function that it is passed to: ``findSchemaOrThrow``; empty if none."""
    registers: bool
    """Whether it defines the operator or registers a kernel for it."""


def operator_literals(lexed: Lexed, operator: str) -> Iterator[OperatorLiteral]:
    """The literals of a C++ file that contain ``quantized::linear``."""
    text = lexed.text
    literals: _Literals | None = None
    line_of = LineCount(text)
    for found in re.finditer(rf"{re.escape(operator)}(?:\.(\w+))?(?!\w|::)", text):
        at = found.start()
        if text[at - 1 : at] == ":" or text[at - 1 : at].isalnum() or text[at - 1 : at] == "_":
            continue
        literals = literals or _Literals(lexed)
        start = literals.start_of(at)
        if start >= 0:
            yield _literal(text, found, start, line_of(at))


def _literal(text: str, found: re.Match[str], start: int, line: int) -> OperatorLiteral:
    before = text[max(0, start - _BACK) : start].rstrip("R")
    given = _GIVEN_TO.search(before)
    registers = _REGISTERED.search(before) is not None
    overload = found[1]
    if overload is None and (beside := _OVERLOAD.match(text, found.end())):
        overload = beside[1]
    if overload is None and registers:
        overload = ""
    return OperatorLiteral(line, overload, given[1] if given else "", registers)


def operator_symbols(clean: str, operator: str) -> Iterator[int]:
    """The lines with ``aten::add`` in code, a symbol that torchgen generates for TorchScript
    (``aten_interned_strings.h``)."""
    line_of = LineCount(clean)
    for found in re.finditer(rf"{re.escape(operator)}(?!\w|::)", clean):
        before = clean[: found.start()][-1:]
        if not (before == ":" or before == "_" or before.isalnum()):
            yield line_of(found.start())


class _Literals:
    """The string literals of a text."""

    def __init__(self, lexed: Lexed) -> None:
        self._text = lexed.text
        self._clean = lexed.clean
        self._starts = lexed.strings
        self._raw = [one.span() for one in _RAW.finditer(lexed.text)]

    def start_of(self, offset: int) -> int:
        """The start of the literal around an offset; -1 in code or a comment."""
        for start, end in self._raw:
            if start < offset < end:
                return start
        at = bisect_right(self._starts, offset) - 1
        start = self._starts[at] if at >= 0 else -1
        if start >= 0 and self._clean.find('"', start + 1) > offset:
            return start
        return self._in_directive(offset)

    def _in_directive(self, offset: int) -> int:
        """The same for a line of a ``#define``, whose literals the lexer does not list."""
        begin = self._text.rfind("\n", 0, offset) + 1
        end = self._text.find("\n", offset)
        line, before = self._text[begin:end], self._text[begin:offset]
        if not (line.lstrip().startswith("#") or line.endswith("\\")) or "//" in before:
            return -1
        return begin + before.rfind('"') if before.count('"') % 2 else -1
