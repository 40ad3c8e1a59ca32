"""The stage that adds the operators defined in TORCH_LIBRARY blocks, without entries in
native_functions.yaml."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from indexes.linking.facts import LibraryUse
from indexes.linking.library_operators import (
    LibraryKernelRow,
    LibraryOperator,
    add_kernels,
    defined_operators,
    library_kind,
    names_in,
)
from indexes.linking.python.operators import (
    KINDS,
    add_python_kernels,
    bound_operators,
    define_from_python,
)
from indexes.linking.registrations import (
    is_built,
    names_in_kernel,
    registered_definition,
    written_registrations,
)
from indexes.model.vocabulary import OperatorSummary
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup
from indexes.store.registrations import StoredPython, library_uses, named_macros
from indexes.store.tables import DEFINITION_COLUMNS, DEFINITION_FROM, FILE_BITS, dump

STAGE = "library operators"


def library_operator_inputs(store: Store) -> Iterable[object]:
    """The inputs of these operators and their kernels: the blocks, the macros and definitions that
    they name."""
    lookup = Lookup(store)
    uses = _uses(lookup)
    yield store.meta("operators")
    yield from StoredPython(store).of_kinds(*KINDS)
    yield from uses
    yield sorted((path, sorted(one.items())) for path, one in named_macros(lookup, uses).items())
    named = json.dumps(sorted(set(names_in(uses))))
    yield from store.query(
        f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE d.name IN"
        " (SELECT value FROM json_each(?)) ORDER BY d.id",
        (named,),
    )


def _uses(lookup: Lookup) -> list[LibraryUse]:
    """The definitions of blocks, and their registrations for those and for operators outside
    aten."""
    every = [one for one in library_uses(lookup) if is_built(one.location.path)]
    defined = {one.op for one in every if one.method == "def"}
    return [one for one in every if one.op in defined or "::" in one.op]


def keep_library_operators(store: Store) -> None:
    """Writes the operators of libraries with their kernels, behind those of the YAML."""
    for table in ("ops WHERE library>0", "kernels WHERE path NOT NULL"):
        store.db.execute(f"DELETE FROM {table}")
    lookup = Lookup(store)
    uses = _uses(lookup)
    known = dict.fromkeys(lookup.operator_names)
    found, problems = defined_operators(uses, known)
    python = [row for row in StoredPython(store).of_kinds(*KINDS) if "::" in row[1].target]
    python.sort(key=lambda row: row[0])
    problems += define_from_python(found, python, known)
    store.set_problems(STAGE, problems)
    add_kernels(found, uses, named_macros(lookup, uses), lookup)
    bound = bound_operators(lookup.natives())
    add_python_kernels(found, python, bound)
    for position, one in enumerate(found.values(), len(known)):
        _keep(store, lookup, position, one)


def _keep(store: Store, lookup: Lookup, position: int, one: LibraryOperator) -> None:
    native = one.placed
    what = (native.full_name, native.name, dump(native))
    row = (position, *what, None, one.derivative_rule, "{}", dump(_summary(one)), 1)
    store.insert("ops", [row])
    rows = [_kernel_row(native.full_name, kernel, lookup) for kernel in one.kernels]
    store.insert("kernels", rows)


def _kernel_row(op: str, one: LibraryKernelRow, lookup: Lookup) -> tuple[object, ...]:
    known = filter(None, map(lookup.known, one.definitions))
    listed = ",".join(str(each.id) for each in known)
    line, path = one.location.line, one.location.path
    said = (one.kind, one.confidence, one.link_rule, one.reason)
    calls = one.calls or op
    return (None, op, one.key, one.symbol, one.kind, calls, line, one.rule, *said, listed, path)


def _summary(one: LibraryOperator) -> OperatorSummary:
    native = one.native
    return OperatorSummary(
        full_name=native.full_name,
        schema=native.schema,
        location=native.location,
        keys=tuple(dict.fromkeys(kernel.key for kernel in one.kernels)),
        tags=native.tags,
        python_module=None,
        has_derivative=False,
        kind=library_kind(one),
        files=tuple(dict.fromkeys(_files(one))),
    )


def _files(one: LibraryOperator) -> Iterator[str]:
    """The files of its kernels' definitions; for Python, of the registrations."""
    for kernel in one.kernels:
        yield from (found.location.path for found in kernel.definitions)
        if kernel.kind == "python":
            yield kernel.location.path


_NAMED = "names in registrations"
"""The key in ``meta`` for the names in registrations of blocks."""


def library_inputs(store: Store) -> Iterable[object]:
    """The inputs of links from blocks: their registrations, and definitions of the names, without
    lines."""
    lookup = Lookup(store)
    uses = library_uses(lookup)
    yield from uses
    macros = named_macros(lookup, uses)
    yield from ((path, sorted(macros[path].items())) for path in sorted(macros))
    yield from store.rows("SELECT op,symbol,definitions FROM kernels ORDER BY id")
    yield from store.query(
        "SELECT d.id,d.name,d.scope,d.kind,d.guard,f.path"
        f" FROM definitions d JOIN files f ON f.id=d.id>>{FILE_BITS}"
        " WHERE d.name IN (SELECT value FROM json_each(?)) ORDER BY d.id",
        (store.meta(_NAMED) or "[]",),
    )


def link_libraries(store: Store) -> None:
    """Stores the definition of each function that a block registers."""
    lookup = Lookup(store)
    uses = library_uses(lookup)
    files: dict[str, int] = dict(store.query("SELECT path,id FROM files WHERE kind='cpp'"))
    written = list(written_registrations(uses, named_macros(lookup, uses)))
    names = {name for one in written for name in names_in_kernel(one.registration.kernel)}
    store.set_meta(_NAMED, json.dumps(sorted(names)))
    rows = []
    for one in written:
        made, place = one.registration, one.use.location
        definition = registered_definition(one, lookup)
        known = lookup.known(definition) if definition else None
        target = known.id if known else None
        rows.append((files[place.path], made.op, made.key, place.line, made.rule, target))
    store.db.execute("DELETE FROM library_kernels")
    store.insert("library_kernels", rows)
