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
    """A value. Its lines are those of the file, counted from 1; each is 0 where it is the line of
    its key."""

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


_Row = tuple[str, str, str, str]
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
_ITEM = rf"""(?:{_WORD}|'[^',]*'|"[^"\\,]*")"""
_FLOW = re.compile(rf"\[ *((?:{_ITEM}(?: *, *{_ITEM})*)?) *\](?: +#.*)?", re.ASCII)
_LISTED = re.compile(r"( +)- ([!-~][ -~]*)")
_INSIDE = re.compile(r" [ !#-[\]-~]*")
_CLOSING = re.compile(r'( [ !#-[\]-~]*)"(?: +#[ -~]*)? *')
_EMPTY = re.compile(r"\{ *\}(?: +#.*)?")
_NULLS = frozenset(("null", "Null", "NULL"))
_BOOLEANS = frozenset(
    form
    for word in ("yes", "no", "true", "false", "on", "off")
    for form in (word, word.title(), word.upper())
)


_Read = tuple["Node | None", int]
"""What was read, None for another shape, and the line behind it, counted from 0."""


class Lines:
    """The lines of a file."""

    def __init__(self, text: str) -> None:
        self.texts = text.split("\n")
        self._rows: list[_Row] = _ROW.findall(text)

    def starts(self) -> list[int]:
        """The lines, counted from 0, where entries begin; none where something else precedes
        the first."""
        found = [at for at, row in enumerate(self._rows) if row[0] == "- " or row[3][:1] == "-"]
        return found if found and all(map(_is_idle, self._rows[: found[0]])) else []

    def entry(self, start: int, stop: int) -> Node | None:
        """The mapping of the entry in lines ``start`` to ``stop``, which is left out; None when
        its shape is another."""
        if self._rows[start][0] != "- ":
            return None
        read, behind = self._mapping(start, stop, 2)
        return read if behind == stop else None

    def _mapping(self, at: int, stop: int, column: int) -> _Read:
        """The mapping whose keys stand in ``column``."""
        fields: list[Field] = []
        first = at + 1
        while at < stop:
            lead, key, text, other = self._rows[at]
            if lead:
                if len(lead) < column and fields:
                    break
                line = at + 1
                value = _value(text) if text else None
                value, at = (value, line) if value else self._longer(text, line, stop, column)
                if value is None or len(lead) != column:
                    return None, at
                fields.append(Field(key, value, line))
            elif other:
                return None, at
            else:
                at += 1
        return Node("mapping", first, fields[-1].last, fields=tuple(fields)), at

    def _longer(self, text: str, at: int, stop: int, column: int) -> _Read:
        """The value of several lines that begins with ``text`` behind its key, or below it."""
        if text:
            return self._quoted(text, at, stop)
        while at < stop and _is_idle(self._rows[at]):
            at += 1
        deeper = len(self._rows[at][0]) if at < stop else 0
        if deeper > column:
            return self._mapping(at, stop, deeper)
        return (None, at) if deeper else self._sequence(at, stop, column)

    def _sequence(self, at: int, stop: int, column: int) -> _Read:
        """The texts listed behind dashes that stand in one column, ``column`` at least."""
        items: list[Node] = []
        leads: set[str] = set()
        while at < stop and not self._rows[at][0]:
            found = _LISTED.fullmatch(self._rows[at][3])
            item = _value(found[2]) if found else None
            at += 1
            if found and item and item.id == "scalar":
                leads.add(found[1])
                items.append(item._replace(line=at, last=at))
            elif not _is_idle(self._rows[at - 1]):
                return None, at
        if len(leads) != 1 or len(leads.pop()) < column:
            return None, at
        return Node("sequence", items[0].line, items[-1].last, items=tuple(items)), at

    def _quoted(self, text: str, at: int, stop: int) -> _Read:
        """A text in double quotes over several lines, which YAML joins with spaces."""
        if text[0] != '"' or '"' in text[1:] or "\\" in text:
            return None, at
        parts = [text[1:].rstrip(" ")]
        for line in self.texts[at:stop]:
            at += 1
            if closing := _CLOSING.fullmatch(line):
                parts.append(closing[1].lstrip(" "))
                return Node("scalar", last=at, text=" ".join(parts)), at
            if not _INSIDE.fullmatch(line) or line.isspace():
                break
            parts.append(line.strip(" "))
        return None, at


def _is_idle(row: _Row) -> bool:
    """Whether a line holds nothing, or a comment."""
    return not row[0] and not row[3]


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
