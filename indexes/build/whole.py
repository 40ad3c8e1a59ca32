"""The part of a cold build that needs all C++ files at once: macro uses are expanded, and kernels
linked. Forks do it while the other files are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from indexes.build.operator_rows import Derived
from indexes.build.operators import Operators
from indexes.build.summaries import summary
from indexes.linking.kernel_rows import (
    ALIAS_SCOPES,
    KERNEL_KINDS,
    Candidates,
    Kernels,
    Linked,
    link_rows,
)
from indexes.linking.kernels import wanted_names
from indexes.linking.library_macros import LibraryMacros
from indexes.linking.macros import Expansion, MacroTable, PlacedMacro, expand_file
from indexes.model.vocabulary import Definition
from indexes.readers.cxx.bodies import MACRO_USE
from indexes.readers.cxx.facts import CppFacts, LibraryFact, holds_operators
from indexes.source.forked import Task
from indexes.store.definition_rows import definition
from indexes.store.index_file import Store
from indexes.store.packed import Defined, pack_definitions
from indexes.store.tables import numbers_of_some

_Made = tuple[list[Any], tuple[Any, ...], list[Any]]
"""Calls in library blocks, definitions and uses that macros make in a file, as plain rows."""
_Candidate = tuple[int, str, Sequence[Any]]
"""Number, path and row of a definition."""


class Whole:
    """All C++ files of a tree, and what they make together."""

    def __init__(self, store: Store, operators: Operators, has_sources: bool, files: int) -> None:
        """``files`` is how many C++ files there are."""
        self._store = store
        self._operators = operators
        self._writer = operators.rows(store)
        self._has_sources = has_sources
        self._awaited = files
        self._facts: dict[int, tuple[str, CppFacts]] = {}
        self._wanted = {name for row in operators.kernels for name in wanted_names(row)}
        self._candidates: list[_Candidate] = []
        self._aliases: dict[str, str] = {}
        self._expanding: Task | None = None
        self._linking: Task | None = None
        self._is_linked = False

    def add(self, number: int, path: str, facts: CppFacts, defined: Defined) -> None:
        """Takes what the store keeps of a file under a number. After the last one work begins."""
        self._candidates += self._wanted_of(path, numbers_of_some(number, 0)[0], defined)
        self._aliases.update((a[0], a[1]) for a in facts.aliases if a[2] in ALIAS_SCOPES)
        self._facts[number] = path, _for_expansion(facts)
        self._awaited -= 1
        if not self._awaited:
            self._expanding = Task(self._expand)

    def go_on(self) -> None:
        """Keeps what is made by now, if anything is."""
        if not self._linking:
            if self._expanding and self._expanding.is_ready():
                self._keep_made()
        elif not self._is_linked and self._linking.is_ready():
            self._keep_links(self._linking)

    def finish(self) -> None:
        """Waits for the rest, and keeps it."""
        linking = self._linking or self._keep_made()
        if not self._is_linked:
            self._keep_links(linking)

    def close(self) -> None:
        """Ends what still works."""
        for task in (self._expanding, self._linking):
            if task:
                task.drop()

    def _keep_made(self) -> Task:
        """Keeps what macros make, and makes the indexes of all definitions while others link."""
        made: dict[int, _Made] = (self._expanding or Task(self._expand)).result()
        for number, (libraries, rows, uses) in made.items():
            defined = Defined(*rows)
            first = numbers_of_some(number, 1)[0]
            self._candidates += self._wanted_of(self._facts[number][0], first, defined)
            self._store.add_libraries(number, libraries, made=1)
            self._store.add_definitions(number, defined, made=1)
            self._store.add_uses(number, uses, made=1)
        self._linking = linking = Task(self._link)
        self._store.add_passed_stubs()
        self._store.add_cpp_indexes()
        self._rows = self._writer.made(*self._operators)
        return linking

    def _keep_links(self, linking: Task) -> None:
        self._is_linked = True
        self._writer.write(self._rows, *linking.result())

    # ------------------------------------------------------------------ the work of the forks

    def _link(self) -> tuple[list[Linked], list[str]]:
        """The links of all rows, and the summaries of all overloads."""
        found = Candidates((one[0], _definition(one)) for one in sorted(self._candidates))
        rows = self._operators.kernels
        links, kernels = link_rows(rows, found, self._aliases, self._has_sources)
        return links, self._summaries(kernels)

    def _expand(self) -> dict[int, _Made]:
        """What macros make in each file, by its number."""
        macros: dict[str, list[PlacedMacro]] = {}
        for path, facts in self._facts.values():
            for macro in facts.macros:
                macros.setdefault(macro.name, []).append(PlacedMacro(path, macro))
        libraries = LibraryMacros(MacroTable(macros))
        made = ((n, _expanded(path, facts, libraries)) for n, (path, facts) in self._facts.items())
        return {number: one for number, one in made if one}

    def _wanted_of(self, path: str, first: int, defined: Defined) -> list[_Candidate]:
        """Those of a file's definitions that could be kernels."""
        wanted = self._wanted
        return [
            (first + at, path, row)
            for at, row in enumerate(defined.rows)
            if row[0] in wanted and row[2] in KERNEL_KINDS
        ]

    def _summaries(self, kernels: Kernels) -> list[str]:
        functions, derived, _ = self._operators
        known = {function.full_name: function for function in functions}
        return [
            summary(known[name], _has_formula(derived.get(name)), kernels.get(name, []))
            for name in (function.full_name for function in functions)
        ]


def _has_formula(derived: Derived | None) -> bool:
    return derived is not None and derived[0] is not None


def _expanded(path: str, facts: CppFacts, libraries: LibraryMacros) -> _Made | None:
    calls = libraries.expand(path, facts.libraries, facts.uses)
    made = Expansion()
    if facts.uses and holds_operators(path):
        made = expand_file(path, facts, libraries.table)
    if not (calls or made.definitions or made.uses):
        return None
    defined = tuple(pack_definitions(made.definitions))
    return [tuple(one) for one in calls], defined, [tuple(one) for one in made.uses]


def _for_expansion(facts: CppFacts) -> CppFacts:
    libraries = [LibraryFact(*x) for x in facts.libraries if x[2] == MACRO_USE]
    return CppFacts(uses=facts.uses, macros=facts.macros, libraries=libraries)


def _definition(found: _Candidate) -> Definition:
    number, path, row = found
    name, scope, kind, line, end_line, parameters, guard, is_global, base, *macro = row
    values = (number, name, scope, path, kind, line, end_line, parameters, guard, is_global)
    return definition((*values, *macro, base))
