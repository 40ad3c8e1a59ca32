"""The part of a cold build that needs all C++ files at once: macro uses are expanded, and kernels
linked. A fork does it while the other files are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from indexes.build_operators import Operators
from indexes.build_summaries import summary
from indexes.forked import Task
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
from indexes.model import Definition
from indexes.operator_rows import Derived
from indexes.packed import Defined, pack_definitions
from indexes.readers.cpp_facts import CppFacts, LibraryFact, holds_operators
from indexes.readers.cpp_library import MACRO_USE
from indexes.rows_sql import definition
from indexes.store import Store

_Made = tuple[list[Any], tuple[Any, ...], list[Any]]
"""Calls in library blocks, definitions and uses that macros make in a file, as plain rows."""
_Result = tuple[dict[int, _Made], list[Linked], list[str]]
"""What macros make by the numbers of files, the links of all rows, summaries of all overloads."""
_Candidate = tuple[int, str, Sequence[Any]]
"""Number, path and row of a definition."""


class Whole:
    """All C++ files of a tree, and what they make together."""

    def __init__(self, store: Store, operators: Operators, has_sources: bool, files: int) -> None:
        """``files`` is how many C++ files there are."""
        self._store = store
        self._operators = operators
        self._has_sources = has_sources
        self._awaited = files
        self._facts: dict[int, tuple[str, CppFacts]] = {}
        self._wanted = {name for row in operators.kernels for name in wanted_names(row)}
        self._candidates: list[_Candidate] = []
        self._aliases: dict[str, str] = {}
        self._task: Task | None = None
        self._is_kept = False

    def add(self, number: int, path: str, facts: CppFacts, defined: Defined) -> None:
        """Takes what the store keeps of a file under a number. After the last one work begins."""
        first = self._store.first_free(number) - len(defined.rows)
        self._candidates += self._wanted_of(path, first, defined)
        self._aliases.update((a[0], a[1]) for a in facts.aliases if a[2] in ALIAS_SCOPES)
        self._facts[number] = path, _for_expansion(facts)
        self._awaited -= 1
        if not self._awaited:
            self._task = Task(self._work)

    def is_ready(self) -> bool:
        """Whether ``keep`` would not wait."""
        return not self._is_kept and self._task is not None and self._task.is_ready()

    def keep(self) -> None:
        """Keeps what was made in the store, unless that was done, and makes the indexes of it."""
        if self._is_kept:
            return
        self._is_kept = True
        made, links, summaries = (self._task or Task(self._work)).result()
        for number, (libraries, defined, uses) in made.items():
            self._store.add_libraries(number, libraries, made=1)
            self._store.add_definitions(number, Defined(*defined))
            self._store.add_uses(number, uses, made=1)
        functions, derived, kernels = self._operators
        rows = self._operators.rows(self._store)
        rows.add(functions, derived, kernels, links, summaries)
        self._store.add_passed_stubs()
        self._store.add_cpp_indexes()

    def close(self) -> None:
        """Ends what still works."""
        if self._task and not self._is_kept:
            self._task.drop()

    # ------------------------------------------------------------------ the work of the fork

    def _work(self) -> _Result:
        made = dict(self._expand())
        candidates = list(self._candidates)
        for number, (_, defined, _) in made.items():
            path, first = self._facts[number][0], self._store.first_free(number)
            candidates += self._wanted_of(path, first, Defined(*defined))
        found = Candidates((one[0], _definition(one)) for one in sorted(candidates))
        rows = self._operators.kernels
        links, kernels = link_rows(rows, found, self._aliases, self._has_sources)
        return made, links, self._summaries(kernels)

    def _expand(self) -> Iterator[tuple[int, _Made]]:
        macros: dict[str, list[PlacedMacro]] = {}
        for path, facts in self._facts.values():
            for macro in facts.macros:
                macros.setdefault(macro.name, []).append(PlacedMacro(path, macro))
        libraries = LibraryMacros(MacroTable(macros))
        for number, (path, facts) in self._facts.items():
            if made := _expanded(path, facts, libraries):
                yield number, made

    def _wanted_of(self, path: str, first: int, defined: Defined) -> list[_Candidate]:
        """Those of a file's definitions that could be kernels."""
        return [
            (first + at, path, row)
            for at, row in enumerate(defined.rows)
            if row[0] in self._wanted and row[2] in KERNEL_KINDS
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
