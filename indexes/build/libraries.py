"""The stage that finds which functions TORCH_LIBRARY blocks register for operators."""

from __future__ import annotations

from collections.abc import Iterable

from indexes.linking.registrations import registered_definition, written_registrations
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup
from indexes.store.registrations import library_uses, named_macros


def library_inputs(store: Store) -> Iterable[object]:
    """What decides which functions are registered: the blocks, and what names can mean."""
    lookup = Lookup(store)
    uses = library_uses(lookup)
    yield from uses
    macros = named_macros(lookup, uses)
    yield from ((path, sorted(macros[path].items())) for path in sorted(macros))
    yield store.meta("links")
    yield from store.query("SELECT owner,digest FROM linked ORDER BY owner")


def link_libraries(store: Store) -> None:
    """Keeps the definition of each function that a block registers."""
    lookup = Lookup(store)
    uses = library_uses(lookup)
    files: dict[str, int] = dict(store.query("SELECT path,id FROM files WHERE kind='cpp'"))
    rows = []
    for one in written_registrations(uses, named_macros(lookup, uses)):
        made, place = one.registration, one.use.location
        definition = registered_definition(one, lookup)
        known = lookup.known(definition) if definition else None
        target = known.id if known else None
        rows.append((files[place.path], made.op, made.key, place.line, made.rule, target))
    store.db.execute("DELETE FROM library_kernels")
    store.insert("library_kernels", rows)
