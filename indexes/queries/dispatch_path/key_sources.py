"""Finds the lines of a tree that make sets of dispatch keys, by what they do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from re import Match

from indexes.model.errors import SourceError
from indexes.model.idioms import close
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.dispatch_table import Dispatch
from indexes.readers.cxx.key_sets import KeyAlgebra, KeyNames, UnknownSetError, named_sets
from indexes.readers.cxx.lexer import Lines, lex
from indexes.source.source import Source

KEY_SETS = "c10/core/DispatchKeySet.h"
_CASE = regex(r"case\s+BackendComponent::(\w+)Bit\s*:\s*return\s+([^;]+);|default\s*:\s*return")


class KeySources:
    """Reads files of one tree, each once."""

    def __init__(self, source: Source, dispatch: Dispatch) -> None:
        self.source, self._dispatch = source, dispatch
        self.clean = cache(lambda logical: lex(self.raw(logical)).clean)
        self._line_at = cache(lambda logical: Lines(self.raw(logical)).at)

    @cached_property
    def algebra(self) -> KeyAlgebra:
        """The tree's keys, with the constants of DispatchKeySet.h if it has that."""
        text = self.raw(KEY_SETS) if self.source.locate(KEY_SETS) else ""
        return KeyAlgebra(self._dispatch.keys, named_sets(text))

    def with_constants_of(self, logical: str) -> KeyAlgebra:
        """The same with the constants of another file."""
        more = named_sets(self.raw(logical))
        return KeyAlgebra(self.algebra.keys, {**self.algebra.constants, **more})

    def raw(self, logical: str) -> str:
        """A file's text. Raises UnknownSetError, with the command, if the tree lacks it."""
        path = self.source.locate(logical)
        if path is None:
            more = ": torchnav clone" if self.source.kind == "wheel" else ""
            raise UnknownSetError(f"{logical} is not in this tree{more}")
        try:
            return self.source.read(path).decode("utf-8", "replace")
        except SourceError as error:
            raise UnknownSetError(str(error)) from error

    def matches(self, logical: str, pattern: str) -> Iterator[tuple[Match[str], Location]]:
        """The matches of a pattern in the code of a file, without comments and strings."""
        for found in regex(pattern).finditer(self.clean(logical)):
            yield found, self.location(logical, found.start())

    def match(self, logical: str, pattern: str) -> tuple[Match[str], Location]:
        """The first match. Raises UnknownSetError if there is none."""
        for one in self.matches(logical, pattern):
            return one
        raise UnknownSetError(f"{logical} has an unexpected form")

    def where(self, logical: str, pattern: str) -> Location | None:
        """The line of a pattern; None if the tree does not have it."""
        try:
            return self.match(logical, pattern)[1]
        except UnknownSetError:
            return None

    def location(self, logical: str, offset: int) -> Location:
        """The line of an offset in a file."""
        return Location(self.source.path_of(logical), self._line_at(logical)(offset))

    def where_written(self, logical: str, pattern: str) -> Location | None:
        """As ``where``, including macros, comments and strings."""
        try:
            found = regex(pattern).search(self.raw(logical))
        except UnknownSetError:
            return None
        return self.location(logical, found.start()) if found else None

    def body(self, logical: str, function: str) -> str:
        """The body of the first function of that name with one."""
        head, _ = self.match(logical, rf"\b{function}\s*\([^;{{}}]*\)[^;{{}}()]*\{{")
        text = self.clean(logical)
        closed = close(text, head.end() - 1, "{}")
        if closed < 0:
            raise UnknownSetError(f"{function} in {logical} does not end")
        return text[head.end() : closed]

    def of_backend(self, function: str, backend: str) -> dict[str, Location]:
        """The keys for a backend in a switch of DispatchKeySet.h, with the line:
        ``getAutogradRelatedKeySetFromBackend``."""
        head, _ = self.match(KEY_SETS, rf"\b{function}\s*\([^;{{}}]*\)\s*\{{")
        text = self.clean(KEY_SETS)
        for case in _CASE.finditer(text, head.end()):
            if case[1] is None:
                break  # the default ends the switch
            if case[1] == backend:
                where = self.location(KEY_SETS, case.start())
                return dict.fromkeys(self.algebra.value(case[2]), where)
        raise UnknownSetError(f"{function} says nothing of {backend}")

    def constant(self, name: str) -> tuple[KeyNames, Location]:
        """A constant of DispatchKeySet.h. Raises UnknownSetError."""
        found = self.algebra.constants.get(name)
        if found is None:
            raise UnknownSetError(f"{KEY_SETS} has no {name}")
        where = Location(self.source.path_of(KEY_SETS), found.line)
        return self.algebra.value(name), where

    def runtime_key(self, functionality: str, backend: str) -> str:
        """``AutogradCPU`` for ``AutogradFunctionality`` and CPU; the name itself if it is not per
        backend."""
        for key in self.algebra.keys.runtime:
            if key.functionality == functionality and key.backend in (None, backend):
                return key.name
        return functionality
