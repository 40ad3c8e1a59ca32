"""Which Python module a variable of a C++ file holds: made there, imported, part of another, or
given by the callers of the function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

from indexes.model.idioms import split_arguments
from indexes.model.regex import regex

_ASSIGNED = rb"\b%s\s*(?:=(?!=)|\()\s*([^;{}]*)"
_TAKEN = (
    rb"\b(\w+)\s*\(([^(){};]*(?:PyObject\s*\*|\b(?:module_?|object|handle)\b\s*&{0,2})\s*%s"
    rb"\s*(?:,[^(){};]*)?)\)\s*\{"
)
"""A function that takes an object."""
_MADE = regex(rb"\bPyModule_Create2?\(\s*&(\w+)")
_IMPORTED = regex(rb'\b(?:PyImport_\w+|PyModule_New|import)\(\s*"([\w.]+)"')
_PART = regex(rb'\b(\w+)\s*\.\s*(?:def_submodule|attr)\(\s*"(\w+)"')
_GOT = regex(rb'\bPyObject_GetAttrString\(\s*(\w+)(?:\.get\(\))?\s*,\s*"(\w+)"')
_RETURNED = regex(rb"(?:\w+::)*(\w+)\(\s*\)\s*")
_WRAPPED = regex(
    rb"(?:[\w:]+(?:<[\w:]+>)?\(\s*)?(\w+)\s*(?:\.\w+\(\)\s*)?\)?\s*(?:\.\w+<[\w:]+>\(\))?\)?\s*"
)
"""``py::handle(m).cast<py::module>()``, ``py::cast<py::module>(m)``, ``m``."""
_DEFINED = rb'\bPyModuleDef\s+%s\s*=?\s*\{[^;"]{0,500}"([\w.]+)"'
_ADDED = rb"\b\w+\(\s*&?(\w+)\s*,\s*(?:std::data\(\s*)?(?:\w+::)*%s(?:\(\))?\s*\)"
"""A table that a call adds to another."""
_DEEPEST = 8
_MOST_MEANINGS = 3
"""Assignments of a name that are looked at, last first."""
_MOST_CALLS = 20
"""Most calls of a function that is given a module: one call initialises a module."""


class Modules:
    """Modules in the C++ files of one tree.

    Parameters:
        read: Gives the bytes of a file.
        holding: Gives the files with a word.
        table: Gives the module whose definition in a file has a table.
    """

    def __init__(
        self,
        read: Callable[[str], bytes],
        holding: Callable[[bytes], Iterable[str]],
        table: Callable[[str, bytes], str],
    ) -> None:
        self._read = read
        self._holding = cache(lambda word: tuple(holding(word)))
        self._table = table
        self._given = cache(self._given_to)
        self._held: dict[tuple[str, bytes, int], str] = {}

    def held(self, path: str, name: bytes, at: int, depth: int = 0) -> str:
        """The module in a variable at a place of a file: ``torch._C._nn``; begins with a dot if the
        outer one is unknown, empty if nothing is known."""
        key = path, name, at
        if key not in self._held:
            self._held[key] = ""  # for what holds itself
            self._held[key] = self._find_held(*key, depth) if depth <= _DEEPEST else ""
        return self._held[key]

    def _find_held(self, path: str, name: bytes, at: int, depth: int) -> str:
        data, word = self._read(path), re.escape(name)
        start = max(data.rfind(b"\n}", 0, at), 0)  # of the function, as the tree is formatted
        found = [
            *re.finditer(_ASSIGNED % word, data[start:at]),
            *re.finditer(_TAKEN % word, data[start:at]),
        ]
        last = sorted(found, key=lambda one: -one.start())[:_MOST_MEANINGS]
        values = (self._of_meaning(path, name, one, start, depth + 1) for one in last)
        return next(filter(None, values), "")  # a lambda may have something else of the name

    def _of_meaning(
        self, path: str, name: bytes, found: re.Match[bytes], start: int, depth: int
    ) -> str:
        """The module that an assignment, or a parameter, gives to a name."""
        if found.re.groups == 1:
            return self._of_value(path, found[1], start + found.start(), depth)
        names = [re.findall(rb"\w+", part.encode()) for part in _arguments(found[2])]
        position = next(i for i, one in enumerate(names) if one and one[-1] == name)
        return self._given(found[1], position, depth)

    def _of_value(self, path: str, value: bytes, at: int, depth: int) -> str:
        if made := _MADE.search(value):
            return _first(re.search(_DEFINED % made[1], self._read(path)))
        if imported := _IMPORTED.search(value):
            return imported[1].decode()
        if part := _PART.search(value) or _GOT.search(value):
            return f"{self.held(path, part[1], at, depth)}.{part[2].decode()}"
        if returned := _RETURNED.fullmatch(value):
            return self._made_by(returned[1])
        wrapped = _WRAPPED.fullmatch(value)
        return self.held(path, wrapped[1], at, depth) if wrapped else ""

    def _made_by(self, function: bytes) -> str:
        """The module that a function without parameters makes."""
        for path in self._holding(function):
            data = self._read(path)
            body = re.search(rb"\b%s\((?:void)?\)\s*\{" % function, data)
            made = _MADE.search(data, body.end(), data.find(b"\n}", body.end())) if body else None
            if made:
                return _first(re.search(_DEFINED % made[1], data))
        return ""

    def _given_to(self, function: bytes, position: int, depth: int) -> str:
        """What all callers of a function give it; empty if they differ."""
        pattern = re.compile(rb"\b%s\(([^;{}]*?)\)\s*[;)]" % function)
        calls = [
            (path, call)
            for path in self._holding(function)
            for call in pattern.finditer(self._read(path))
        ]
        found = set()
        for path, call in calls if len(calls) < _MOST_CALLS else ():
            given = _arguments(call[1])[position : position + 1]
            if given and " " not in given[0]:  # else it is declared
                found.add(self._of_value(path, given[0].encode(), call.start(), depth))
        return found.pop() if len(found) == 1 else ""

    def with_table(self, path: str, table: bytes) -> str:
        """The module that gets the functions of a table: by its definition, or by a call that adds
        the table, or what a function returns it from, to that of a module."""
        if module := self._table(path, table):
            return module
        data = self._read(path)
        returned = re.search(rb"\b(\w+)\([^(){};]*\)\s*\{\s*return\s+%s\s*;" % table, data)
        word = returned[1] if returned else table
        found = {
            self._table(other, added[1]) or self.held(other, added[1], added.start())
            for other in self._holding(word)
            for added in re.finditer(_ADDED % word, self._read(other))
        } - {""}
        return found.pop() if len(found) == 1 else ""


def _arguments(text: bytes) -> list[str]:
    return split_arguments(text.decode(errors="replace"))


def _first(found: re.Match[bytes] | None) -> str:
    return found[1].decode() if found else ""
