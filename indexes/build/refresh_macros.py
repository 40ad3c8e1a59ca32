"""Expands the macro uses of changed files again, and of those that a changed macro reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from indexes.build.renewed import Renewing
from indexes.linking.library_macros import LibraryMacros
from indexes.linking.macros import Expansion, MacroTable, PlacedMacro, expand_file
from indexes.model.regex import regex
from indexes.readers.cxx.facts import CppFacts, holds_operators
from indexes.store.index_file import Store
from indexes.store.packed import pack_definitions

_WORD = regex(r"\w+")


class _StoredMacros(Mapping[str, list[PlacedMacro]]):
    """Macros fetched from the index by name, when asked for."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, list[PlacedMacro]] = {}

    def __getitem__(self, name: str) -> list[PlacedMacro]:
        if name not in self._known:
            self._known[name] = [PlacedMacro(p, m) for p, m in self._store.macros(name)]
        if not self._known[name]:
            raise KeyError(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError("macros are fetched by name")

    def __len__(self) -> int:
        raise NotImplementedError("macros are fetched by name")


class _StoredTable(MacroTable):
    """A table of macros that are fetched by name, and the bodies of all at once."""

    def __init__(self, store: Store) -> None:
        super().__init__(_StoredMacros(store))
        self._store = store

    def bodies(self) -> dict[str, str]:
        found: dict[str, list[str]] = {}
        for name, body in self._store.query("SELECT name,body FROM macros"):
            found.setdefault(name, []).append(body)
        return {name: " ".join(bodies) for name, bodies in found.items()}


def expand(store: Store, renewing: Renewing, numbers: Iterable[int]) -> None:
    """Expands the macro uses of these files, and of those that a changed macro reaches."""
    if renewing.macros:
        numbers = {*numbers, *_users(store, renewing.macros)}
    table = _StoredTable(store)
    libraries = LibraryMacros(table)
    for number in sorted(numbers):
        path = store.query("SELECT path FROM files WHERE id=?", (number,))[0][0]
        uses = store.cpp_uses(number)
        registered = libraries.expand(path, store.library_uses(number), uses)
        made = Expansion()
        if holds_operators(path):
            made = expand_file(path, CppFacts(uses=uses), table)
        renewing.made(number, registered, pack_definitions(made.definitions), made.uses)


def _users(store: Store, macros: set[str]) -> set[int]:
    """Files that use one of ``macros``, by itself or through another macro."""
    bodies = [(n, _words(b)) for n, b in store.query("SELECT name,body FROM macros")]
    reached: set[str] = set()
    more = macros
    while more:
        reached |= more
        more = {n for n, words in bodies if n not in reached and not words.isdisjoint(reached)}
    rows = store.query(
        "SELECT file,name||' '||arguments FROM uses WHERE made=0 UNION ALL"
        " SELECT file,block||' '||arguments FROM libraries WHERE method='use'"
    )
    return {file for file, text in rows if not _words(text).isdisjoint(reached)}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))
