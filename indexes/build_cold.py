"""A build from nothing: every file is read, every macro use expanded, every row linked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from indexes import forked
from indexes.build_links import link_kernels
from indexes.build_operators import add_operators
from indexes.linking.library_macros import LibraryMacros
from indexes.linking.macros import Expansion, MacroTable, PlacedMacro, expand_file
from indexes.packed import Defined, pack_definitions
from indexes.readers.cpp_facts import CppFacts, LibraryFact, holds_operators
from indexes.readers.cpp_library import MACRO_USE
from indexes.store import Store
from indexes.tables import STORE_VERSION
from indexes.walk import SourceFile

if TYPE_CHECKING:
    from indexes.build import Builder
    from indexes.report import Report
    from indexes.scan_pool import FileFacts


def fill(
    builder: Builder, store: Store, files: dict[str, SourceFile], read: Iterator[FileFacts]
) -> Report:
    """Fills an empty store with all that ``files`` hold; ``read`` gives what is read of them."""
    from indexes.build import READ_KINDS
    from indexes.report import Report

    store.set_meta("scanned_ns", str(time.time_ns()))
    report = Report(files=len(files), cold=True)
    wanted = sum(file.kind in READ_KINDS for file in files.values())
    natives = add_operators(store, builder.source)
    cpp: dict[int, CppFacts] = {}
    for facts in read:
        report.read += 1
        _keep(builder, store, files[facts.path], facts, cpp)
        builder.tell("reading", report.read, wanted)
    for file in files.values():
        if file.kind not in READ_KINDS:
            _add_file(store, file, builder.hash(file.path))
    builder.tell("expanding macros", 0, 0)
    _expand(store, cpp)
    cpp.clear()
    builder.tell("linking", 0, 0)
    store.add_passed_stubs()
    store.add_registered_by_helpers()
    store.add_indexes()
    link_kernels(store, builder.has_sources, natives=natives)
    store.set_meta("store_version", STORE_VERSION)
    return report


def _keep(
    builder: Builder, store: Store, file: SourceFile, facts: FileFacts, cpp: dict[int, CppFacts]
) -> None:
    """Keeps what was read of a file, and in ``cpp`` what expansion needs of it."""
    builder.know_hash(file.path, facts.hash)
    number = _add_file(store, file, facts.hash)
    builder.add_facts(store, number, facts)
    if facts.cpp:
        cpp[number] = _for_expansion(facts.cpp)


def _add_file(store: Store, file: SourceFile, digest: bytes) -> int:
    return store.add_file((file.path, file.kind, file.size, file.mtime_ns, file.inode, digest))


def _for_expansion(facts: CppFacts) -> CppFacts:
    libraries = [LibraryFact(*x) for x in facts.libraries if x[2] == MACRO_USE]
    return CppFacts(uses=facts.uses, macros=facts.macros, libraries=libraries)


_Made = tuple[list[Any], tuple[Any, ...], list[Any]]
"""Calls in library blocks, definitions and uses that macros make, as plain rows."""


def _expand(store: Store, cpp: dict[int, CppFacts]) -> None:
    """Keeps what the macro uses of all files make, half of it found by a fork."""
    store.flush()
    paths = dict(store.query("SELECT id, path FROM files"))
    work = _Expansion({paths[number]: facts for number, facts in cpp.items()})
    halves = [[paths[number] for number in list(cpp)[start::2]] for start in (0, 1)]
    other = forked.begin(lambda: work.of(halves[1]))
    made = {**work.of(halves[0]), **other()}
    for number in cpp:
        libraries, defined, uses = made[paths[number]]
        store.add_libraries(number, libraries, made=1)
        store.add_definitions(number, Defined(*defined))
        store.add_uses(number, uses, made=1)


class _Expansion:
    """Expands the macro uses of files that are known with all their macros."""

    def __init__(self, files: dict[str, CppFacts]) -> None:
        self._files = files
        macros: dict[str, list[PlacedMacro]] = {}
        for path, facts in files.items():
            for macro in facts.macros:
                macros.setdefault(macro.name, []).append(PlacedMacro(path, macro))
        self._table = MacroTable(macros)
        self._libraries = LibraryMacros(self._table)

    def of(self, paths: list[str]) -> dict[str, _Made]:
        """What is made in each of some files."""
        return {path: self._of(path, self._files[path]) for path in paths}

    def _of(self, path: str, facts: CppFacts) -> _Made:
        libraries = self._libraries.expand(path, facts.libraries, facts.uses)
        made = Expansion()
        if facts.uses and holds_operators(path):
            made = expand_file(path, facts, self._table)
        defined = tuple(pack_definitions(made.definitions))
        return [tuple(one) for one in libraries], defined, [tuple(one) for one in made.uses]
