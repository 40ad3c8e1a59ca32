"""The stage that resolves what functions call: the edges of the graph, file by file.

A file is linked anew when it was read, or when a name that it uses means something else now."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter

from indexes.linking.edges import EdgeResolver, formula_edges, names_in
from indexes.linking.registrations import function_name, stub_row
from indexes.linking.visible import stub_scope
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup
from indexes.store.scopes import ScopeFacts
from indexes.store.tables import FILE_BITS

_SPELLINGS = ("", "_out", "_outf", "_symint")
"""What C++ appends to the name of an operator."""


def link_edges(store: Store, files: Collection[int] | None) -> None:
    """Links the bodies of some files, and of all that use names of theirs; or all bodies."""
    digests = dict(_digests(store))
    if files is None:
        store.empty("edges", "registrations")
        wanted = store.column("SELECT id FROM files WHERE kind='cpp' ORDER BY id")
    else:
        wanted = sorted({*files, *_concerned(store, digests)})
        for number in wanted:
            store.drop_edges(number)
    store.db.execute("DELETE FROM linked")
    store.insert("linked", list(digests.items()))
    lookup = ScopeFacts(store)
    resolver = EdgeResolver(lookup)
    for number in wanted:
        _link_bodies(store, lookup, resolver, number)
        _link_registrations(store, lookup, number)
    _link_formulas(store, lookup)
    store.create_indexes()


def _link_bodies(store: Store, lookup: Lookup, resolver: EdgeResolver, number: int) -> None:
    bodies = lookup.bodies(number)
    lookup.expect(name for _, calls in bodies for call in calls for name in names_in(call))
    store.insert("edges", [edge for body in bodies for edge in resolver.edges(*body)])


def _link_registrations(store: Store, lookup: Lookup, number: int) -> None:
    """Keeps which functions a file registers on stubs."""
    rows = []
    for use in lookup.registrations_of_file(number):
        row = stub_row(use, lookup)
        found = row.alternatives or tuple(filter(None, (row.definition,)))
        numbers: list[int | None] = [one.id for d in found if (one := lookup.known(d))]
        stub = f"{stub_scope(use)}::{row.stub}"
        what = (stub, row.device, row.macro, row.function, use.location.line, row.guard)
        rows += [(number, *what, target, row.reason) for target in numbers or [None]]
    store.insert("registrations", rows)


def _link_formulas(store: Store, lookup: Lookup) -> None:
    """What formulas call is few, and depends on every function: linked anew each time."""
    store.db.execute("DELETE FROM edges WHERE caller<0")
    for position in store.column("SELECT position FROM derivatives ORDER BY position"):
        edges = formula_edges(-1 - position, lookup.entry(position), lookup)
        store.insert("edges", edges)


# ------------------------------------------------------------------ what must be linked anew


def _digests(store: Store) -> Iterator[tuple[str, bytes]]:
    """Of each file, and of each operator, the digest of what names in bodies can mean by it."""
    heads = store.rows(
        f"SELECT id>>{FILE_BITS},id,name,scope,kind,parameters,guard,is_global,base"
        " FROM definitions ORDER BY id"
    )
    macros = store.rows(
        f"SELECT c.definition>>{FILE_BITS},c.name,c.qualifier,c.kind,c.template FROM definitions d"
        " JOIN calls c ON c.definition=d.id WHERE d.kind='macro' ORDER BY c.rowid"
    )
    stubs = store.rows(
        "SELECT file,name,arguments,scope,guard FROM uses WHERE stub NOT NULL ORDER BY rowid"
    )
    operators = store.rows("SELECT base,data FROM ops ORDER BY position")
    yield from _grouped("file ", chain(heads, macros, stubs))
    yield from _grouped("operator ", operators)


def _grouped(word: str, rows: Iterable[tuple[object, ...]]) -> Iterator[tuple[str, bytes]]:
    digests: dict[object, hashlib.blake2b] = {}
    for owner, said in groupby(rows, itemgetter(0)):
        digest = digests.get(owner)
        if digest is None:
            digest = digests[owner] = hashlib.blake2b(digest_size=8)
        digest.update(json.dumps(list(said)).encode())
    return ((f"{word}{owner}", digest.digest()) for owner, digest in digests.items())


def _concerned(store: Store, digests: dict[str, bytes]) -> set[int]:
    """The files whose bodies use a name that means something else than last time."""
    before: dict[str, bytes] = dict(store.query("SELECT owner,digest FROM linked"))
    owners = {one for one in {*before, *digests} if before.get(one) != digests.get(one)}
    files = [int(name) for kind, name in map(str.split, owners) if kind == "file"]
    bases = [name for kind, name in map(str.split, owners) if kind == "operator"]
    names = {f"{base}{ending}" for base in bases for ending in _SPELLINGS}
    concerned: set[int] = set()
    for number in files:
        names.update(store.names_of(number))
        concerned.update(store.files_with_edges_into(number), store.files_registering(number))
    return concerned.union(store.files_calling(names), _registering(store, names))


def _registering(store: Store, names: Collection[str]) -> set[int]:
    """The files that register a function of one of some names on a stub."""
    rows = store.query("SELECT DISTINCT file,function FROM registrations")
    return {file for file, function in rows if function_name(function) in names}
