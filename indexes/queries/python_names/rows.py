"""Which class or module the rows of a C++ file's tables and its pybind11 calls are for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_CLASS = rb"(?:\b\w*class_|\benum_)\s*<[^;{]*?>"
_NAMED = rb'\(\s*[\w.]+,\s*"(\w+)"'
_OPENS = re.compile(
    rb"\b(PyGetSetDef|PyMethodDef|PyMemberDef)>?\s+(?P<table>\w+)\s*[\[=]"
    rb"|^[ \t]*\#[ ]*define[ ]+\w+"
    rb"|[;{}]\s*(?://[^\n]*\n\s*)*(?P<object>\w+)\s*\.def\w*\s*\("
    rb"|%s\s*\w*\s*%s" % (_CLASS, _NAMED),
    re.MULTILINE,
)
"""The start of a table, of a macro with rows, of a pybind11 class, and of calls on an object."""
_TYPE = rb"""\bPyTypeObject\s+\w+\s*=?\s*\{[^;"]*"([\w.]+)"[^;]*\b%s\b"""
"""The name of a type, with its table."""
_MODULE = rb"""\bPyModuleDef\s+\w+\s*=?\s*\{[^;"]*"([\w.]+)"[^;]*\b%s\b"""
"""The name of a module, with its table."""
_SUBMODULE = rb"""\b%s\s*=[^;]*\bdef_submodule\s*\(\s*"(\w+)\""""
_OBJECT = rb"""(?:\b%%s\s*=\s*[\w:]*%s\s*|%s\s*\b%%s\s*)%s""" % (_CLASS, _CLASS, _NAMED)
"""A pybind11 class that has a variable."""
_BASES = rb"""%s\s*\w*\s*\(\s*[\w.]+,\s*"%%s"(?:,\s*(\w+)\s*[,)])?""" % _CLASS.replace(
    rb"[^;{]*?", rb"([^;{]*?)"
)


class Rows:
    """The rows of one file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._openings = list(_OPENS.finditer(data))
        self._class_of = cache(self._of_object)

    def owner(self, at: int) -> str | None:
        """The class, as the file names it, that a row at a place is for; empty if the file does not
        say it, None if it is for a module."""
        opening = self._opening(at)
        if opening is None:
            return None
        if table := opening["table"]:
            owner = self._named(_TYPE, table)
            is_function = opening[1] == b"PyMethodDef" or self._named(_MODULE, table)
            return owner or (None if is_function else "")
        if called_on := opening["object"]:
            return self._class_of(called_on) or None
        return (opening[opening.lastindex or 0] or b"").decode() if opening.lastindex else ""

    def is_member(self, at: int, owner: str) -> bool:
        """Whether a row may be for a class: tables may be given to a type in another file."""
        found = self.owner(at)
        if found is None:
            opening = self._opening(at)
            return bool(opening and opening["table"]) and not self.module(at)
        return found.rpartition(".")[2] in ("", owner)

    def is_function(self, at: int, module: str) -> bool:
        """Whether a row may be for a module: files name few of those that they give rows to."""
        last = module.rpartition(".")[2]
        return not self.owner(at) and self.module(at).rpartition(".")[2] in ("", last)

    def module(self, at: int) -> str:
        """The module that a row is for; empty if the file does not say it."""
        opening = self._opening(at)
        if opening is None or not (opening["table"] or opening["object"]):
            return ""
        return self._named(_MODULE, opening["table"] or b"\0") or self._named(
            _SUBMODULE, opening["object"] or b"\0"
        )

    def bases(self, owner: str) -> Iterator[str]:
        """The pybind11 classes from which one derives: among its template arguments, or given as an
        object."""
        head = re.search(_BASES % re.escape(owner.encode()), self.data)
        if head is None:
            return
        if head[2] and (base := self._class_of(head[2])):
            yield base
        for name in re.findall(rb"\w+(?=\s*(?:,|$))", head[1])[1:]:
            bound = rb"class_\s*<\s*(?:\w*::)*%s\b[^;{]*?>\s*\w*\s*%s" % (name, _NAMED)
            if found := re.search(bound, self.data):
                yield found[1].decode()

    def _opening(self, at: int) -> re.Match[bytes] | None:
        """The last opening before a place."""
        before = (one for one in reversed(self._openings) if one.start() < at)
        return next(before, None)

    def _named(self, pattern: bytes, name: bytes) -> str:
        found = re.search(pattern % re.escape(name), self.data)
        return found[1].decode() if found else ""

    def _of_object(self, name: bytes) -> str:
        """The class of an object that has a pybind11 class; empty for other objects."""
        found = re.search(_OBJECT % (re.escape(name), re.escape(name)), self.data)
        return (found[1] or b"").decode() if found else ""
