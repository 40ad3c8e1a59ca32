"""The stage that finds which functions TORCH_LIBRARY blocks register for operators."""

from __future__ import annotations

import json
from collections.abc import Iterable

from indexes.linking.registrations import (
    names_in_kernel,
    registered_definition,
    written_registrations,
)
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup
from indexes.store.registrations import library_uses, named_macros
from indexes.store.tables import FILE_BITS

_NAMED = "names in registrations"
"""The word of ``meta`` that holds the names in what blocks register."""


def library_inputs(store: Store) -> Iterable[object]:
    """What decides which functions are registered: the blocks, and what the names in them can
    mean, where lines do not matter."""
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
    """Keeps the definition of each function that a block registers."""
    lookup = Lookup(store)
    uses = library_uses(lookup)
    files: dict[str, int] = dict(store.query("SELECT path,id FROM files WHERE kind='cpp'"))
    written = list(written_registrations(uses, named_macros(lookup, uses)))
    names = {name for one in written for name in names_in_kernel(one.registration.kernel)}
    store.set_meta(_NAMED, json.dumps(sorted(names)))
    lookup.expect(sorted(names))
    rows = []
    for one in written:
        made, place = one.registration, one.use.location
        definition = registered_definition(one, lookup)
        known = lookup.known(definition) if definition else None
        target = known.id if known else None
        rows.append((files[place.path], made.op, made.key, place.line, made.rule, target))
    store.db.execute("DELETE FROM library_kernels")
    store.insert("library_kernels", rows)
