"""Functions that a body passes on by name: as arguments, assigned, returned or given to macros."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from re import escape

from indexes.model.regex import ASCII, regex
from indexes.readers.cxx.expressions import Expressions
from indexes.readers.cxx.lexer import flat
from indexes.readers.cxx.local_names import Row
from indexes.readers.cxx.signs import PATH, TEMPLATE

_SPELLED = rf"(::)?({PATH})\s*({TEMPLATE})?"
_ADDRESS = "(const void*)"
"""The cast of a ``__global__`` function for the CUDA runtime, and for libraries that launch it."""
_CAST = rf"static_cast\s*<[^;{{}}]*>\s*\(\s*&?|{escape(_ADDRESS)}\s*&?"
_PASSED = regex(rf"\s*(&|{_CAST})?\s*{_SPELLED}\s*\)?\s*", ASCII)
# What a look-ahead has found is not tried again in another way.
_ASSIGNED = regex(
    rf"(?:=|\breturn\b(?=[^;]*>\s*;))\s*(&?)\s*(::)?(?=({PATH}))\3\s*({TEMPLATE})?\s*;", ASCII
)
_OF_CLASS = regex(r"\s*(?:[A-Z][A-Z0-9_]*\s*\(\w*\))?((?:::)?\w+(?:::\w+)*)::(\w+)\s*", ASCII)
_AFTER_MACRO = regex(r"\s*[A-Z][A-Z0-9_]*\s*\(\w*\)(::\w+(?:::\w+)*)::(\w+)\s*", ASCII)
_ALIAS = regex(r"\busing\s+\w+\s*$")
_CHOSEN = regex(rf"\?\s*(&?)\s*{_SPELLED}\s*:\s*(&?)\s*{_SPELLED}\s*[;,)]", ASCII)
_CONSTANT = regex(r"k[A-Z]\w*|[A-Z][A-Z0-9_]*$", ASCII)
_VALUE = regex(r"k[A-Z]\w*$|[A-Z][A-Z0-9_]*$|\w*_stub$|\w*_$|true$|false$|nullptr$|this$", ASCII)
"""Names that are no functions, or were stored as one already."""


class PassedNames:
    """Collects the functions that one body passes on by name."""

    def __init__(
        self, plain: str, expressions: Expressions, here: Collection[str], rows: list[Row]
    ) -> None:
        """``here``: the names of the file's functions and stubs; what is found is added to
        ``rows``."""
        self._plain = plain
        self._expressions = expressions
        self._here = here
        self._rows = rows

    def add_if_here(self, name: str, start: int) -> bool:
        """Adds a name that the body does not declare, if it is a function or stub of the file."""
        is_here = name in self._here or name.endswith("_stub")
        if is_here:
            self._add(self._plain.index(name, start), name)
        return is_here

    def in_arguments(self, parts: Iterable[tuple[int, int]]) -> None:
        """Functions passed by name to something that is not followed: ``std::bind(f, x)``."""
        for start, end in parts:
            text = self._plain[start:end].strip()
            if not text.isidentifier():
                self.in_argument(text, start, end)
            elif self._expressions.declared(text, start) is None:
                self.add_if_here(text, start)

    def in_argument(self, text: str, start: int, end: int) -> None:
        """A function that is an argument: ``&f``, ``at::f``, ``static_cast<F>(f)``."""
        if _may_name(text) and (found := _PASSED.fullmatch(self._plain, start, end)):
            self._name(found.start(3), *found.groups())

    def given_to_macro(self, parts: Iterable[tuple[int, int]], is_expanded: bool) -> None:
        """Functions of classes that a macro calls, with the library's namespace possibly made by
        another macro: ``WRAP(NO_ROCM(detail)::cub::DeviceSelect::Flagged, x)``."""
        pattern = _AFTER_MACRO if is_expanded else _OF_CLASS
        for start, end in parts:
            if found := pattern.fullmatch(self._plain, start, end):
                self._add(found.start(2), found[2], found[1])

    def given_back(self, parts: Iterable[tuple[int, int]]) -> None:
        """Functions passed to a callback: ``callback(Config(), kernel)``."""
        for start, end in parts:
            name = self._plain[start:end].strip()
            is_known = name in self._here or self._expressions.declared(name, start) is not None
            if name.isidentifier() and not is_known and not _VALUE.match(name):
                self._add(self._plain.index(name, start), name)

    def assigned(self, first: int, last: int) -> None:
        """Functions in ``kernel = &f<int>;``, ``return f<int>;``, ``fn = wide ? f : g;``."""
        for found in _ASSIGNED.finditer(self._plain, first, last):
            if not _ALIAS.search(self._plain, max(first, found.start() - 80), found.start()):
                self._name(found.start(3), *found.groups())
        chosen = self._plain.find("?", first, last)
        for found in _CHOSEN.finditer(self._plain, chosen, last) if chosen >= 0 else ():
            self._name(found.start(3), *found.groups()[:4])
            self._name(found.start(7), *found.groups()[4:])

    def _name(
        self, at: int, before: str | None, rooted: str | None, path: str, template: str | None
    ) -> None:
        qualifier, _, name = path.rpartition("::")
        pointed = bool(before)
        if not (pointed or qualifier or template or name in self._here or name.endswith("_stub")):
            return
        if not qualifier and self._expressions.declared(name, at) is not None:
            return
        scope = qualifier.rpartition("::")[2]
        if qualifier.startswith("std") or _CONSTANT.match(name) or _is_value(scope, name, pointed):
            return
        self._add(at, name, qualifier or rooted or "", flat(template[1:-1]) if template else "")

    def _add(self, at: int, name: str, qualifier: str = "", template: str = "") -> None:
        self._rows.append((at, name, qualifier, "name", template, "", ""))


def _may_name(text: str) -> bool:
    """Whether an argument looks like a function: ``&f``, ``at::f``, ``static_cast<F>(f)``."""
    if text[-1:] == ")":
        return text.startswith("static_cast")
    return text[:1] == "&" or text[-1:] == ">" or "::" in text or text.startswith(_ADDRESS)


def _is_value(scope: str, name: str, pointed: bool) -> bool:
    """Whether ``Scope::Name`` is an enumerator, by its spelling."""
    return not pointed and scope[:1].isupper() and name[:1].isupper()
