"""A build from nothing: every file is read, every macro use expanded, every row linked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from indexes.build_links import link_kernels
from indexes.build_operators import add_operators
from indexes.linking.library_macros import LibraryMacros
from indexes.linking.macros import MacroTable, PlacedMacro, expand_file
from indexes.packed import pack_definitions
from indexes.readers.cpp_facts import CppFacts, LibraryFact, holds_operators
from indexes.readers.cpp_library import MACRO_USE
from indexes.source import SourceFile
from indexes.store import Store
from indexes.tables import STORE_VERSION

if TYPE_CHECKING:
    from indexes.build import Builder, Report
    from indexes.scan_pool import FileFacts


def fill(builder: Builder, store: Store, files: dict[str, SourceFile]) -> Report:
    """Fills an empty store with all that ``files`` hold."""
    from indexes.build import READ_KINDS, Report

    store.set_meta("scanned_ns", str(time.time_ns()))
    report = Report(files=len(files), cold=True)
    wanted = [f for f in files.values() if f.kind in READ_KINDS]
    with builder.reading(wanted) as read:
        natives = add_operators(store, builder.source)
        cpp: dict[int, CppFacts] = {}
        for facts in read:
            report.read += 1
            _keep(builder, store, files[facts.path], facts, cpp)
            builder.tell("reading", report.read, len(wanted))
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


def _expand(store: Store, cpp: dict[int, CppFacts]) -> None:
    store.flush()
    paths = dict(store.query("SELECT id, path FROM files"))
    macros: dict[str, list[PlacedMacro]] = {}
    for number, facts in cpp.items():
        for macro in facts.macros:
            macros.setdefault(macro.name, []).append(PlacedMacro(paths[number], macro))
    table = MacroTable(macros)
    libraries = LibraryMacros(table)
    for number, facts in cpp.items():
        store.add_libraries(number, libraries.expand(paths[number], facts.libraries), made=1)
        if facts.uses and holds_operators(paths[number]):
            made = expand_file(paths[number], facts, table)
            store.add_definitions(number, pack_definitions(made.definitions))
            store.add_uses(number, made.uses, made=1)
