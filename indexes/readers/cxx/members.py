"""The declarations of a class body, and the comments above lines.

Shared by the readers of single headers. Works on the plain text of ``scan_text``, where comments,
strings and directives are blank and offsets agree with the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from indexes.model.regex import regex
from indexes.readers.cxx.scopes import Scan

_LABEL = regex(r"\s*(?:public|private|protected)\s*:(?!:)")
_BRACKETS = regex(r"[(){}\[\];]")
_SPACE = regex(r"\s*")
_GOES_ON = regex(r"\s*(?:[;,=]|\Z)")


_ANGLES = regex(r"<[^<>]*>")
FUNCTION_POINTER = regex(r"\(\s*\*\s*(\w+)\s*\)\s*\(")
_TYPE = regex(r"(?:using|typedef|friend|template|static_assert|enum|union|class|struct)\b")


class Statement(NamedTuple):
    """One declaration in a class body."""

    text: str
    offset: int
    """Of its first character."""


def class_body(scan: Scan, name: str) -> tuple[int, int] | None:
    """Start and end offset of the body of the first class ``name``; None if there is none."""
    for found in scan.found:
        if found.kind == "class" and found.name == name and found.end > found.body > 0:
            return scan.plain.index("{", found.body) + 1, scan.plain.rindex("}", 0, found.end + 1)
    return None


def statements(plain: str, start: int, end: int) -> Iterator[Statement]:
    """The declarations between two offsets, without access labels."""
    depth = 0
    begin = start
    for match in _BRACKETS.finditer(plain, start, end):
        token, at = match[0], match.start()
        if token in "({[":
            depth += 1
        elif token in ")}]":
            depth = max(depth - 1, 0)
        if depth == 0 and (token == ";" or (token == "}" and not _goes_on(plain, at + 1, end))):
            statement = _statement(plain, begin, at + (token == "}"))
            begin = at + 1
            if statement.text:
                yield statement


def _goes_on(plain: str, at: int, end: int) -> bool:
    """Whether a statement continues behind a closing brace, or nothing follows."""
    return _GOES_ON.match(plain, at, end) is not None


def is_type(text: str) -> bool:
    """Whether the statement declares a type, a template or a friend."""
    return _TYPE.match(text) is not None


def is_function(text: str) -> bool:
    """Whether it declares a function: a parenthesis outside ``<>``, before any initializer."""
    if re.search(r"\boperator\b", text):
        return True
    head = text
    while (shorter := _ANGLES.sub("", head)) != head:
        head = shorter
    head = re.split(r"[={]", head, maxsplit=1)[0]
    return "(" in head and FUNCTION_POINTER.search(head) is None


def _statement(plain: str, begin: int, end: int) -> Statement:
    while (label := _LABEL.match(plain, begin, end)) is not None:
        begin = label.end()
    space = _SPACE.match(plain, begin, end)
    begin = space.end() if space else begin
    return Statement(plain[begin:end].rstrip(), begin)


def comment_above(lines: list[str], line: int) -> str:
    """The comment that ends on ``line`` (from 1) or the line before it, without markers.

    Blocks with only blank lines between them belong together.
    """
    collected: list[str] = []
    at = line - 2
    while at >= 0:
        text = lines[at].strip()
        if text.endswith("*/"):
            first = at
            while first > 0 and "/*" not in lines[first]:
                first -= 1
            collected += reversed(lines[first : at + 1])
            at = first
        elif text.startswith("//") or (not text and collected):
            collected.append(text)
        else:
            break
        at -= 1
    trailing = lines[line - 1].partition("//")[2] if line <= len(lines) else ""
    if not collected and trailing:
        collected = [trailing]
    return "\n".join(_MARKER.sub("", text).rstrip() for text in reversed(collected)).strip()


_MARKER = regex(r"^\s*(?:///?<?|/\*\*?|\*(?!/))? ?|\s*\*+/\s*$")
