"""Which class or module the rows of a C++ file's tables and its pybind11 calls are for."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import pairwise

CLASS = rb"(?:\b\w*class_|\benum_|\bexception|\bbind_\w+)\s*<[^;{]{0,500}?>"
"""What binds a class, in pybind11's words. Template arguments are limited in length, so that a
file of nothing but such words takes no square of its length."""
_NAMED = rb'\(\s*[\w.]+,\s*"(\w+)"'
_OPENS = re.compile(
    rb"\b(PyGetSetDef|PyMethodDef|PyMemberDef)>?\s+(?P<table>\w+)\s*[\[=]"
    rb"|^[ \t]*\#[ ]*define[ ]+\w+"
    rb"|[;{}]\s*(?://[^\n]{0,200}\n\s*){0,50}(?P<object>\w+)\s*\.def\w*\s*\("
    rb"|%s\s*\w*\s*%s" % (CLASS, _NAMED),
    re.MULTILINE,
)
"""The start of a table, of a macro with rows, of a pybind11 class, and of calls on an object."""
_STATEMENTS = re.compile(rb"\b(PyTypeObject|PyModuleDef)\s+\w+\s*=?\s*\{|;")
_NAME = re.compile(rb'[^"]*"([\w.]+)"')
_WORD = re.compile(rb"\w+")
_OBJECT = rb"""(?:\b%%s\s*=\s*[\w:]*%s\s*|%s\s*\b%%s\s*)%s""" % (CLASS, CLASS, _NAMED)
"""A pybind11 class that has a variable."""
_BASES = rb"""%s\s*\w*\s*\(\s*[\w.]+,\s*"%%s"(?:,\s*(\w+)\s*[,)])?""" % CLASS.replace(
    rb"[^;{]{0,500}?", rb"([^;{]{0,500}?)"
)


class Rows:
    """The rows of one file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._openings = list(_OPENS.finditer(data))
        self._starts = [one.start() for one in self._openings]
        self.class_of = cache(self._of_object)

    def owner(self, at: int) -> str | None:
        """The class, as the file names it, that a row at a place is for; empty if the file does not
        say it, None if it is for a module."""
        opening = self.opening(at)
        if opening is None:
            return None
        if table := opening["table"]:
            owner = self._tables.get((b"PyTypeObject", table), "")
            is_function = opening[1] == b"PyMethodDef" or self.module_with(table)
            return owner or (None if is_function else "")
        if called_on := opening["object"]:
            return self.class_of(called_on) or None
        return (opening[opening.lastindex or 0] or b"").decode() if opening.lastindex else ""

    def is_member(self, at: int, owner: str) -> bool | None:
        """Whether a row is for a class; None if the file does not say it: tables may be given to a
        type in another file, and macros used for any class."""
        found = self.owner(at)
        if found is None:
            table = (opening := self.opening(at)) and opening["table"]
            return None if table and not self.module_with(table) else False
        return found.rpartition(".")[2] == owner if found else None

    def module_with(self, table: bytes) -> str:
        """The module whose definition in this file has a table; empty if none has."""
        return self._tables.get((b"PyModuleDef", table), "")

    @cached_property
    def _tables(self) -> dict[tuple[bytes, bytes], str]:
        """The Python names of types and modules, by each word of their definitions."""
        found: dict[tuple[bytes, bytes], str] = {}
        for one, after in pairwise((*_STATEMENTS.finditer(self.data), None)):
            end = after.start() if after else len(self.data)
            kind: bytes | None = one[1] if one else None
            if one and kind and (name := _NAME.match(self.data, one.end(), end)):
                for word in _WORD.findall(self.data, name.end(), end):
                    found.setdefault((kind, word), name[1].decode())
        return found

    def bases(self, owner: str) -> Iterator[str]:
        """The pybind11 classes from which one derives: among its template arguments, or given as an
        object."""
        head = re.search(_BASES % re.escape(owner.encode()), self.data)
        if head is None:
            return
        if head[2] and (base := self.class_of(head[2])):
            yield base
        for name in re.findall(rb"\w+(?=\s*(?:,|$))", head[1])[1:]:
            bound = rb"class_\s*<\s*(?:\w*::)*%s\b[^;{]{0,500}?>\s*\w*\s*%s" % (name, _NAMED)
            if found := re.search(bound, self.data):
                yield found[1].decode()

    def opening(self, at: int) -> re.Match[bytes] | None:
        """The last opening before a place."""
        position = bisect_left(self._starts, at)
        return self._openings[position - 1] if position else None

    def _of_object(self, name: bytes) -> str:
        """The class of an object that has a pybind11 class; empty for other objects."""
        found = re.search(_OBJECT % (re.escape(name), re.escape(name)), self.data)
        return (found[1] or b"").decode() if found else ""
