"""What a body's own ``using`` declarations say that its names stand for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from indexes.model.regex import ASCII, regex
from indexes.readers.cxx.lexer import flat
from indexes.readers.cxx.marks import type_mark

_FUNCTION = regex(r"\busing\s+((?:\w+::)*\w+)::(\w+)\s*;")
_TYPE = regex(
    r"\busing\s+(?!\w+_t\b)(\w{3,})\s*=\s*(?:typename\s+)?(?=([A-Za-z_][\w:]*))\2\s*(?:<([^;{}]*)>)?\s*;",
    ASCII,
)
"""``using Kernel = Selection<MulOp>;``: not those of numbers, which end in ``_t``."""
_WORD = regex(r"(?<!::)\b[A-Za-z_]\w*\b(?!\s*::)", ASCII)

Row = tuple[int, str, str, str, str, str, str]
"""Where a call stands, its name, qualifier, kind, template, arguments and receiver."""


class _Type(NamedTuple):
    """A class that a body calls by a name of its own, from an offset on."""

    offset: int
    qualifier: str
    name: str
    template: str

    def __str__(self) -> str:
        path = f"{self.qualifier}::{self.name}" if self.qualifier else self.name
        return f"{path}<{self.template}>" if self.template else path


class LocalNames:
    """The functions and classes that a body calls by names of its own."""

    def __init__(self, text: str, start: int, end: int) -> None:
        """Those that are declared between two offsets of a text without comments."""
        self._scopes: Mapping[str, str] = {
            name: scope for scope, name in _FUNCTION.findall(text, start, end)
        }
        self._types: dict[str, list[_Type]] = {}
        for found in _TYPE.finditer(text, start, end):
            qualifier, _, name = found[2].rpartition("::")
            if type_mark(found[2]) == name:
                template = self._spelled_out(flat(found[3] or ""), found.start())
                one = _Type(found.end(), qualifier, name, template)
                self._types.setdefault(found[1], []).append(one)

    def meant(self, row: Row) -> Row:
        """A call with what its names stand for; that of an object, ``Gemm gemm; gemm(x)``, with
        its class."""
        at, name, qualifier, kind, template, arguments, receiver = row
        if not qualifier and kind in ("call", "launch"):
            if name in self._scopes:
                qualifier = self._scopes[name]
            elif one := self._type(name, at):
                return at, one.name, one.qualifier, kind, one.template, arguments, receiver
        elif name == "operator()" and (one := self._type(receiver, at)):
            return at, one.name, one.qualifier, "call", one.template, arguments, ""
        template = self._spelled_out(template, at)
        return at, name, qualifier, kind, template, arguments, receiver

    def _spelled_out(self, template: str, at: int) -> str:
        if not self._types or not template:
            return template
        return _WORD.sub(lambda word: str(self._type(word[0], at) or word[0]), template)

    def _type(self, name: str, at: int) -> _Type | None:
        """The last one of a name that is declared before an offset."""
        declared: Sequence[_Type] = self._types.get(name, ())
        before = bisect_left(declared, at, key=lambda one: one.offset)
        return declared[before - 1] if before else None
