"""The stage that expands macro uses: their definitions and registrations."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from indexes.linking.library_macros import LibraryMacros
from indexes.linking.macros import MacroTable, PlacedMacro, expand_file
from indexes.model.lines import grouped
from indexes.readers.cxx.bodies import MACRO_USE
from indexes.readers.cxx.facts import CppFacts, LibraryFact, UseFact, holds_operators
from indexes.store.index_file import MADE, Store
from indexes.store.rows import cpp_rows

_Placed = tuple[int, str]
"""The number and path of a file."""


def expand(store: Store, files: Collection[int] | None) -> None:
    """Expands the macro uses of some files again, or of all."""
    libraries = LibraryMacros(MacroTable(_all_macros(store)))
    uses, blocks = _uses(store), _library_uses(store)
    wanted = sorted({*uses, *blocks})
    registering = set(store.column("SELECT DISTINCT file FROM libraries WHERE made=0"))
    if files is None:
        store.drop_all_made()
    else:
        store.drop_made(files)
    for placed in wanted:
        number, path = placed
        if files is None or number in files:
            given = (uses.get(placed, []), blocks.get(placed, []))
            made = _made(path, *given, libraries, number in registering)
            store.add(cpp_rows(number, made, made=1))
            store.set_problems(MADE, made.problems, path)


def _made(
    path: str,
    uses: list[UseFact],
    blocks: list[LibraryFact],
    libraries: LibraryMacros,
    registers: bool,
) -> CppFacts:
    """The rows that macros make in one file; ``registers``: whether it has blocks of
    registrations."""
    made = CppFacts(libraries=list(libraries.expand(path, blocks, uses)))
    if uses and (holds_operators(path) or registers):
        expansion = expand_file(path, CppFacts(uses=uses), libraries.table)
        made.definitions, made.uses = expansion.definitions, expansion.uses
        made.problems = expansion.problems
    made.problems += libraries.problems
    return made


def _all_macros(store: Store) -> dict[str, list[PlacedMacro]]:
    return grouped((macro.name, PlacedMacro(path, macro)) for path, macro in store.macros())


def _uses(store: Store) -> dict[_Placed, list[UseFact]]:
    """The macro uses at file scope, by file."""
    rows = store.query(
        "SELECT f.id,f.path,u.name,u.arguments,u.scope,u.line,u.guard,u.offset,u.parameters,"
        "u.end_line FROM uses u JOIN files f ON f.id=u.file WHERE u.made=0 ORDER BY u.rowid"
    )
    return grouped(((number, path), UseFact(*use)) for number, path, *use in rows)


def _library_uses(store: Store) -> dict[_Placed, list[LibraryFact]]:
    """The macro uses in TORCH_LIBRARY blocks, by file."""
    rows = store.query(
        "SELECT f.id,f.path,l.macro,l.block,l.method,l.arguments,l.line,l.block_line,l.guard,"
        "l.offset,l.macro_path,l.macro_line FROM libraries l JOIN files f ON f.id=l.file"
        " WHERE l.method=? ORDER BY l.rowid",
        (MACRO_USE,),
    )
    return grouped(((number, path), LibraryFact(*fact)) for number, path, *fact in rows)


def macro_rows(store: Store) -> Iterator[object]:
    """The inputs of expansions besides the uses of a file: all macros."""
    yield from store.query(
        "SELECT f.path,m.name,m.parameters,m.body,m.line,m.offset,m.undefined_at"
        " FROM macros m JOIN files f ON f.id=m.file ORDER BY f.path,m.rowid"
    )
