"""Finds the extent of functions and classes of a Python file without parsing it.

Files are scanned for ``def`` and ``class`` at the start of a line, and blocks are closed by
indentation. Text in triple quotes is left out. This takes a few nanoseconds a byte, so that every
file of a tree can be read.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from textwrap import dedent
from typing import NamedTuple

from indexes.model.lines import LineCount
from indexes.model.regex import regex
from indexes.model.vocabulary import Problem


class Spans:
    """Disjoint spans of bytes."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self.spans = spans
        self._starts = [start for start, _ in spans]

    def end_at(self, offset: int) -> int:
        """End of the span that ``offset`` lies inside of (not at its start); 0 if in none."""
        at = bisect_right(self._starts, offset - 1) - 1
        return self.spans[at][1] if at >= 0 and offset < self.spans[at][1] else 0


def triple_quoted(data: bytes) -> Spans:
    """The spans of triple-quoted strings, comments heeded."""
    return Spans(list(_triple_quoted(data)))


def _triple_quoted(data: bytes) -> Iterator[tuple[int, int]]:
    double, single, ended = data.find(b'"""'), data.find(b"'''"), 0
    while double >= 0 or single >= 0:
        start = min(at for at in (double, single) if at >= 0)
        after = start + 3
        if _opens_string(data, ended, start):
            after = ended = _closing(data, start)
            yield start, ended
        double = data.find(b'"""', after) if 0 <= double < after else double
        single = data.find(b"'''", after) if 0 <= single < after else single


SHORT_STRING = regex(rb"""\"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'""")


def _opens_string(data: bytes, after: int, at: int) -> bool:
    """Whether three quotes open a string, and are not in a comment or another string.

    ``after``: the end of the string before.
    """
    before = data[max(data.rfind(b"\n", after, at) + 1, after) : at].strip(b" \tr")
    if not before:
        return True
    if b"'" in before or b'"' in before:
        before = SHORT_STRING.sub(b"", before)
    return not any(mark in before for mark in (b"#", b"'", b'"'))


def _closing(data: bytes, start: int) -> int:
    quotes = data[start : start + 3]
    at = data.find(quotes, start + 3)
    while at >= 0 and _escaped(data, at):
        at = data.find(quotes, at + 1)
    return at + 3 if at >= 0 else len(data)


def _escaped(data: bytes, at: int) -> bool:
    slashes = 0
    while data[at - slashes - 1] == 0x5C:
        slashes += 1
    return slashes % 2 == 1


# ------------------------------------------------------------------------------- heads


class Head(NamedTuple):
    """The line of a ``def`` or ``class``."""

    start: int
    """Offset of the line's first byte."""
    indent: int
    is_class: bool
    name: str
    line: int
    parent: int
    """Index of the enclosing ``def`` or ``class``, or -1."""
    qualified: str
    """With the names of the enclosing blocks: ``TestTorch.test_add``."""


_HEAD = regex(rb"([^\S\n]*)(?:async[ \t]+)?(?:def|(class))[ \t]+(\w+)")
_TOP_LEVEL_CODE = regex(rb"\n[^\s#)\]}]")
_NEVER = (sys.maxsize, sys.maxsize)


def heads(
    data: bytes, strings: Spans | None = None, keywords: tuple[bytes, ...] = (b"def ", b"class ")
) -> list[Head]:
    """Every ``def`` and ``class`` in file order, nested ones included.

    Nesting is judged by indentation and by code at column 0 in between; ``keywords`` narrows the
    search (``def test_``).
    """
    strings = strings or triple_quoted(data)
    found: list[Head] = []
    open_: list[int] = []
    line_of = LineCount(data)
    for match in _head_lines(data, strings, keywords):
        start, code = match.span(1)
        _close(open_, data, found, start, code - start, strings)
        parent = open_[-1] if open_ else -1
        name = match[3].decode()
        qualified = f"{found[parent].qualified}.{name}" if open_ else name
        open_.append(len(found))
        found.append(
            Head(start, code - start, match[2] is not None, name, line_of(start), parent, qualified)
        )
    return found


def _head_lines(
    data: bytes, strings: Spans, keywords: tuple[bytes, ...]
) -> Iterator[re.Match[bytes]]:
    spans = iter(strings.spans)
    begin, end = next(spans, _NEVER)
    for at in sorted(at for keyword in keywords for at in occurrences(data, keyword)):
        match = _HEAD.match(data, data.rfind(b"\n", 0, at) + 1)
        if match is None or match.end() <= at:
            continue
        while end <= at:
            begin, end = next(spans, _NEVER)
        if at <= begin:
            yield match


def _close(
    open_: list[int], data: bytes, found: list[Head], start: int, indent: int, strings: Spans
) -> None:
    """Removes the blocks of ``open_`` that ended before a line of ``indent`` at ``start``."""
    while open_ and found[open_[-1]].indent >= indent:
        open_.pop()
    if open_ and _top_level_code(data, found[-1].start, start, strings):
        open_.clear()
    while open_ and found[open_[-1]].indent and _leaves(data, found, open_[-1], start, strings):
        open_.pop()


def _top_level_code(data: bytes, start: int, end: int, strings: Spans) -> bool:
    """Whether code stands at column 0 between two lines, which ends every block."""
    while match := _TOP_LEVEL_CODE.search(data, start, end):
        start = strings.end_at(match.start() + 1)
        if not start:
            return True
    return False


def _leaves(data: bytes, found: list[Head], block: int, end: int, strings: Spans) -> bool:
    start = found[-1].start if len(found) - 1 > block else found[block].start
    return _dedented(data, start, found[block].indent, strings, end) is not None


def _dedented(
    data: bytes, start: int, indent: int, strings: Spans, end: int
) -> re.Match[bytes] | None:
    search = _dedent(indent).search
    match = search(data, start, end)
    while match:
        inside = strings.end_at(match.end() - 1)
        if not inside and data[match.start() - 1] != 0x5C:
            return match
        match = search(data, inside or match.end(), end)
    return None


def occurrences(data: bytes, text: bytes, start: int = 0, end: int | None = None) -> list[int]:
    """The offsets of a text."""
    found, at = [], data.find(text, start, end)
    while at >= 0:
        found.append(at)
        at = data.find(text, at + len(text), end)
    return found


# ------------------------------------------------------------------------------ blocks


class Block(NamedTuple):
    """A ``def`` or ``class`` with its extent."""

    head: Head
    end: int
    """Offset of the end of its last line of code."""
    end_line: int


def blocks(
    data: bytes, strings: Spans | None = None, known: list[Head] | None = None
) -> list[Block]:
    """Every ``def`` and ``class`` with its last line; takes twice as long as :func:`heads`."""
    strings = strings or triple_quoted(data)
    return [
        _block(data, head, strings) for head in (heads(data, strings) if known is None else known)
    ]


def _block(data: bytes, head: Head, strings: Spans) -> Block:
    end = statement_end(data, head.start, head.indent, strings)
    return Block(head, end, head.line + data.count(b"\n", head.start, end))


@cache
def _dedent(indent: int) -> re.Pattern[bytes]:
    """The pattern of a line of code indented no deeper than ``indent``, not a closing bracket."""
    return re.compile(rb"\n(?![ \t]{%d})[ \t]*[^\s#)\]}]" % (indent + 1))


def statement_end(data: bytes, start: int, indent: int, strings: Spans) -> int:
    """End of the last line of the statement whose line begins at ``start``."""
    match = _dedented(data, start, indent, strings, len(data))
    return code_end(data, start, match.start() if match else len(data), strings)


def code_end(data: bytes, start: int, end: int, strings: Spans) -> int:
    """``end`` moved back over blank lines and comments."""
    while end > start:
        begin = data.rfind(b"\n", 0, end) + 1
        text = data[begin:end].strip()
        if text and (not text.startswith(b"#") or strings.end_at(begin)):
            return end
        end = begin - 1
    return start


def innermost(found: list[Block], line: int) -> Block | None:
    """The innermost block around a line."""
    around = [block for block in found if block.head.line <= line <= block.end_line]
    return max(around, key=lambda block: block.head.line) if around else None


def parse(source: bytes | str) -> ast.Module:
    """``ast.parse`` without warnings; every failure, even too deep nesting, is a SyntaxError."""
    with _foreign():
        return ast.parse(source)


def parse_expression(source: str) -> ast.expr:
    """The same for an expression."""
    with _foreign():
        return ast.parse(source, mode="eval").body


@contextmanager
def _foreign() -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error) or "nested too deep") from error


def parsed(source: bytes | str, path: str) -> ast.Module | Problem:
    """As ``parse``, with a problem for a file that is not Python."""
    try:
        return parse(source)
    except SyntaxError as error:
        return Problem(path, getattr(error, "lineno", 0) or 0, f"not read: {error}")


_DECORATORS = 60
"""Most lines of a function's decorators."""


def decorated(data: bytes, line: int) -> int:
    """The line of the function or class whose decorator stands at a line; else the line itself."""
    lines = data.split(b"\n")
    above = range(min(line, len(lines)), max(line - _DECORATORS, 0), -1)
    first = next((at for at in above if lines[at - 1].lstrip().startswith(b"@")), 0)
    below = next((head.line for head in heads(data) if head.line >= line > 0), 0) if first else 0
    text = b"\n".join(lines[first - 1 : below - 1]).decode("utf-8", "replace") if below else ""
    try:
        (found,) = parse(f"{dedent(text)}\nclass _: pass").body
    except (SyntaxError, ValueError):
        return line
    return below if text and isinstance(found, ast.ClassDef) else line


def without_bodies(data: bytes, emptied: Iterable[Block]) -> bytes:
    """The source with some functions and classes emptied, all else on the same lines."""
    parts, at = [], 0
    for block in emptied:
        head = block.head
        if head.start < at:
            continue
        keyword, call = ("class", "") if head.is_class else ("def", "(*args, **kwargs)")
        parts.append(data[at : head.start])
        parts.append(f"{' ' * head.indent}{keyword} {head.name}{call}: pass".encode())
        parts.append(b"\n" * data.count(b"\n", head.start, block.end))
        at = block.end
    return b"".join([*parts, data[at:]])


def without_strings(data: bytes, strings: Spans) -> bytes:
    """The source with triple-quoted strings emptied, on the same lines."""
    parts, at = [], 0
    for start, end in strings.spans:
        parts += [data[at : start + 3], b"\n" * data.count(b"\n", start, end), data[end - 3 : end]]
        at = end
    return b"".join([*parts, data[at:]])


class Text:
    """A Python file with parts that several readers use, each found once."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def strings(self) -> Spans:
        """Its triple-quoted strings."""
        return triple_quoted(self.data)

    @cached_property
    def heads(self) -> list[Head]:
        """Its ``def`` and ``class`` lines."""
        return heads(self.data, self.strings)

    @cached_property
    def blocks(self) -> list[Block]:
        """Its functions and classes with their extents."""
        return blocks(self.data, self.strings, self.heads)

    def around(self, line: int) -> Block | None:
        """The innermost function or class around a line."""
        at = bisect_right(self.heads, line, key=lambda head: head.line) - 1
        while at >= 0:
            block = _block(self.data, self.heads[at], self.strings)
            if line <= block.end_line:
                return block
            at = block.head.parent
        return None
