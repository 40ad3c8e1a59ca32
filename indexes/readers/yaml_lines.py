"""Reads YAML in the plain shape that PyTorch's files have, line by line.

An entry in that shape is ``- key: value`` and lines of ``key: value`` below it, which is
read here at a fraction of a YAML parser's cost. Of anything else (values over several
lines, escapes, anchors, tabs ...) nothing is said: a YAML parser is to read it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple


class Node(NamedTuple):
    """A value. Its lines are those of the file, counted from 1; both are 0 for one that
    stands in the line of its key."""

    id: Literal["scalar", "sequence", "mapping", "cycle"]
    """``cycle`` is an alias of a node around it."""
    line: int = 0
    last: int = 0
    """The last line with text of it."""
    text: str = ""
    """Of a scalar, without quotes."""
    means: str = ""
    """``null`` or ``bool`` for a scalar that YAML takes for one."""
    items: tuple[Node, ...] = ()
    """Of a sequence."""
    fields: tuple[Field, ...] = ()
    """Of a mapping, in order; one without fields is ``{}``."""


class Field(NamedTuple):
    """One ``key: value`` of a mapping."""

    key: str
    value: Node
    line: int
    """Line of the key."""

    @property
    def last(self) -> int:
        """The last line with text of the value."""
        return self.value.last or self.line


Row = tuple[str, str, str, str]
"""A line: what stands in front of a key, the key, the text behind its colon, and what is
none of these."""

_ROW = re.compile(
    r"""^(?:(-\ |\ +)([A-Za-z_](?:[\w,\ ]{0,200}\w)?):(?:\ +(?:([!-"$-~][\ -~]*)|\#[\ -~]*)?)?
    |\ *(?:\#[\ -~]*)?|(.*))$""",
    re.ASCII | re.MULTILINE | re.VERBOSE,
)
_PLAIN = re.compile(r"[A-Za-z0-9_(]|-[^ ]")
_QUOTED = re.compile(r"""(?:"([^"\\]*)"|'([^']*)')(?: +#.*)?""")
_WORD = r"[A-Za-z_][\w.]*"
_ITEM = rf"""(?:{_WORD}|'{_WORD}'|"{_WORD}")"""
_FLOW = re.compile(rf"\[ *((?:{_ITEM}(?: *, *{_ITEM})*)?) *\](?: +#.*)?", re.ASCII)
_EMPTY = re.compile(r"\{ *\}(?: +#.*)?")
_NULLS = frozenset(("null", "Null", "NULL"))
_BOOLEANS = frozenset(
    form
    for word in ("yes", "no", "true", "false", "on", "off")
    for form in (word, word.title(), word.upper())
)


def rows_of(text: str) -> list[Row]:
    """The lines of a text."""
    return _ROW.findall(text)


def is_idle(row: Row) -> bool:
    """Whether a line holds nothing, or a comment."""
    return not row[0] and not row[3]


def read_rows(rows: list[Row], start: int, stop: int) -> Node | None:
    """The mapping of the entry in ``rows[start:stop]`` of a whole file; None when its shape is
    another."""
    if rows[start][0] != "- ":
        return None
    read, behind = _mapping(rows, start, stop, 2)
    return read if behind == stop else None


def _mapping(rows: list[Row], at: int, stop: int, column: int) -> tuple[Node | None, int]:
    """The mapping whose keys stand in ``column``, and the row behind it."""
    fields: list[Field] = []
    first = at + 1
    while at < stop:
        lead, key, text, other = rows[at]
        if lead:
            if len(lead) < column and fields:
                break
            line = at + 1
            inner = (_value(text), line) if text else _inner(rows, line, stop, column)
            value, at = inner
            if value is None or len(lead) != column:
                return None, at
            fields.append(Field(key, value, line))
        elif other:
            return None, at
        else:
            at += 1
    return Node("mapping", first, fields[-1].last, fields=tuple(fields)), at


def _inner(rows: list[Row], at: int, stop: int, column: int) -> tuple[Node | None, int]:
    """The mapping below a key that stands in ``column``, alone in its line."""
    while at < stop and is_idle(rows[at]):
        at += 1
    deeper = len(rows[at][0]) if at < stop else 0
    return _mapping(rows, at, stop, deeper) if deeper > column else (None, at)


@lru_cache(maxsize=4096)
def _value(text: str) -> Node | None:
    """A value in one line; None for one that a YAML parser is to read."""
    if _PLAIN.match(text):
        text = text.partition(" #")[0].rstrip(" ")
        return None if ": " in text or text[-1] == ":" else _scalar(text)
    text = text.rstrip(" ")
    if quoted := _QUOTED.fullmatch(text):
        return Node("scalar", text=quoted[1] if quoted[2] is None else quoted[2])
    if flow := _FLOW.fullmatch(text):
        words = flow[1].split(",") if flow[1] else ()
        return Node("sequence", items=tuple(map(_item, words)))
    return Node("mapping") if _EMPTY.fullmatch(text) else None


def _item(text: str) -> Node:
    word = text.strip(" ")
    return Node("scalar", text=word[1:-1]) if word[0] in "\"'" else _scalar(word)


def _scalar(text: str) -> Node:
    means = "bool" if text in _BOOLEANS else "null" if text in _NULLS else ""
    return Node("scalar", text=text, means=means)
