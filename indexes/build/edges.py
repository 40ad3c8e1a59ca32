"""The stage that resolves what functions call: the edges of the graph, file by file.

A file is linked again if it was read, or if a name that it uses has another meaning now.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from indexes.linking.edges import EdgeResolver
from indexes.linking.facts import TO_STUBS, Call, Known
from indexes.linking.formulas import formula_edges
from indexes.linking.registrations import function_name, stub_row
from indexes.linking.visible import stub_scope
from indexes.model.regex import regex
from indexes.readers.cxx.shaders import SHADER
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup
from indexes.store.scopes import ScopeFacts
from indexes.store.tables import FILE_BITS, edge_rows, numbers_of

_WITH_EDGES = f"""
SELECT DISTINCT definition>>{FILE_BITS} FROM calls
UNION SELECT file FROM uses WHERE stub NOT NULL ORDER BY 1
"""
"""SQL for files in which names are used, or functions registered on stubs."""
_SPELLINGS = ("{}", "{}_out", "{}_outf", "{}_symint", "aten::{}")
"""C++ spellings of an operator's name."""


def link_edges(
    store: Store, files: Collection[int] | None, rewritten: Collection[int] | None
) -> bool:
    """Links the bodies of some files, of all that use their names, and each body that uses the name
    of a changed operator; or all bodies. Only files that are ``rewritten``, if known, can have
    changed definitions. Returns whether any edge changed."""
    owners = _keep_digests(store, rewritten)
    if files is None:
        store.empty("edges", "registrations")
    names = _of_operators(store, owners)
    others = _of_files(store, owners)
    whole = (
        store.column(_WITH_EDGES) if files is None else {*files, *_concerned(store, owners, others)}
    )
    partly = [] if files is None else _using_operators(store, names).difference(whole)
    before = [] if files is None else list(_led(store, (*whole, *partly)))
    lookup = ScopeFacts(store)
    if files is None:
        lookup.read_all()
    resolver = EdgeResolver(lookup)
    for number in sorted(whole):
        if files is not None:
            store.drop_edges(number)
        _link_bodies(store, resolver, lookup.bodies(number))
        _link_registrations(store, lookup, number)
    for number in sorted(partly):
        bodies = [
            one
            for one in lookup.bodies(number)
            if any(c.name in names or _OVERLOADS in c.qualifier for c in one[1])
        ]
        callers = ((known.id,) for known, _ in bodies)
        store.db.executemany("DELETE FROM edges WHERE caller=?", callers)
        _link_bodies(store, resolver, bodies)
    _link_formulas(store, lookup, owners, None if files is None else names | others)
    store.create_indexes()
    return files is None or before != list(_led(store, (*whole, *partly)))


def _led(store: Store, files: Iterable[int]) -> Iterator[list[tuple[object, ...]]]:
    """The edges of some files' bodies, without those to macros, whose contents have edges of their
    own."""
    sql = (
        "SELECT caller,kind,target FROM edges WHERE caller BETWEEN ? AND ? AND kind!='macro'"
        " ORDER BY caller,number"
    )
    return (store.query(sql, numbers_of(number)) for number in files)


def _link_bodies(
    store: Store, resolver: EdgeResolver, bodies: Sequence[tuple[Known, Sequence[Call]]]
) -> None:
    store.insert("edges", [row for one in bodies for row in edge_rows(resolver.edges(*one))])


def _link_registrations(store: Store, lookup: Lookup, number: int) -> None:
    """Stores which functions a file registers on stubs."""
    rows = []
    for use in lookup.registrations_of_file(number):
        row = stub_row(use, lookup)
        found = row.alternatives or tuple(filter(None, (row.definition,)))
        numbers: list[int | None] = [one.id for d in found if (one := lookup.known(d))]
        stub = f"{stub_scope(use)}::{row.stub}"
        what = (stub, row.device, row.macro, row.function, use.location.line, row.guard)
        rows += [(number, *what, target, row.reason) for target in numbers or [None]]
    store.insert("registrations", rows)


def _link_formulas(
    store: Store, lookup: Lookup, owners: Collection[str], names: set[str] | None
) -> None:
    """Links changed formulas, and those that use one of some names or lead to a changed file; or
    all."""
    said: dict[int, str] = dict(store.query("SELECT position,words FROM derivatives"))
    wanted = set(said)
    if names is not None:
        gone = set(_formulas_of(store, owners))
        using = {at for at in said if not names.isdisjoint(_WORD.findall(said[at]))}
        wanted &= gone | using
        given = ((-1 - position,) for position in gone | using)
        store.db.executemany("DELETE FROM edges WHERE caller=?", given)
    for position in sorted(wanted):
        made = formula_edges(-1 - position, lookup.entry(position), lookup)
        store.insert("edges", list(edge_rows(made)))


def _formulas_of(store: Store, owners: Collection[str]) -> Iterator[int]:
    """The formulas among owners, and those that lead to a file among them."""
    yield from (int(n) for kind, _, n in (one.partition(" ") for one in owners) if kind == _FORMULA)
    for file in _files(owners):
        yield from (-1 - caller for caller in store.formulas_into(file))


# ------------------------------------------------------------------ what must be linked anew


def _keep_digests(store: Store, rewritten: Collection[int] | None) -> set[str]:
    """Stores the digest of what decides the meanings of names, for each file, operator and formula,
    and returns the changed ones. Only ``rewritten`` files, if known, can have changed."""
    before: dict[str, bytes] = dict(store.query("SELECT owner,digest FROM linked"))
    now = dict(_digests(store, rewritten))
    if rewritten is not None:
        others = set(store.column("SELECT id FROM files")) - {*rewritten}
        as_before = (f"{_FILE} {number}" for number in others)
        now |= {owner: before[owner] for owner in as_before if owner in before}
    changed = {owner for owner in {*before, *now} if before.get(owner) != now.get(owner)}
    store.db.executemany("DELETE FROM linked WHERE owner=?", [(owner,) for owner in changed])
    store.insert("linked", [(owner, now[owner]) for owner in sorted(changed & now.keys())])
    return changed


def _digests(store: Store, files: Collection[int] | None) -> Iterator[tuple[str, bytes]]:
    """The digests of files, or of all, and of all operators and formulas."""
    every = (0, numbers_of(max(store.column("SELECT id FROM files"), default=0))[1])
    ranges = [every] if files is None or len(files) > _FEW else map(numbers_of, files)
    for between in ranges:
        yield from _grouped(_FILE, *(store.rows(sql, between) for sql in _NAMED))
    yield from _grouped(_OPERATOR, store.rows(_CALLED))
    yield from _grouped(_KEY, store.rows("SELECT DISTINCT lower(key),1 FROM kernels"))
    yield from ((f"{_CLASS} {name}", b"") for name in store.column(_CLASSES))
    yield from ((f"{_ALIAS} {name}", b"") for name in Lookup(store).tensor_names)
    yield from ((f"{_METHOD} {folder} {name}", b"") for folder, name in ScopeFacts(store).unknown())
    formulas = store.rows("SELECT position,data FROM derivatives ORDER BY position")
    yield from _grouped(_FORMULA, formulas)


_FEW = 50
"""Files that are queried one by one."""
_FILE, _OPERATOR, _KEY, _FORMULA = "file", "operator", "key", "formula"
_CLASS, _ALIAS, _METHOD = "class", "alias", "method"
_CLASSES = "SELECT DISTINCT scope||'::'||name FROM definitions WHERE kind='class'"
"""SQL for classes: only their methods are called on objects, wherever defined."""
_WORD = regex(r"\w+")
_CALLED = (
    "SELECT base,full_name,json_extract(data,'$.schema','$.variants','$.structured',"
    "'$.structured_delegate','$.flags') FROM ops ORDER BY position"
)
"""What decides the meaning of an operator's call; not its kernels or its line."""
_APPLE = (".metal", ".mm", ".m")
_NAMED = (
    (
        f"SELECT id>>{FILE_BITS},id,name,scope,kind,parameters,guard,is_global,base,"
        "returns,is_virtual FROM definitions WHERE id BETWEEN ? AND ? ORDER BY id"
    ),
    (
        f"SELECT d.id>>{FILE_BITS},c.name,c.qualifier,c.kind,c.template FROM definitions d"
        " JOIN calls c ON c.definition=d.id WHERE d.kind='macro' AND d.id BETWEEN ? AND ?"
        " ORDER BY d.id,c.number"
    ),
    (
        f"SELECT d.id>>{FILE_BITS},d.name,c.qualifier,c.name FROM definitions d"
        " JOIN calls c ON c.definition=d.id WHERE d.base='template' AND c.kind='call'"
        " AND c.qualifier!='' AND instr(c.qualifier,'::')=0 AND d.id BETWEEN ? AND ?"
        " ORDER BY d.id,c.number"
    ),
    (
        f"SELECT definition>>{FILE_BITS},name FROM calls WHERE kind='{SHADER}'"
        " AND definition BETWEEN ? AND ? ORDER BY definition,number"
    ),
    (
        f"SELECT file,name,arguments,scope,guard FROM uses WHERE stub NOT NULL"
        f" AND file BETWEEN ?1>>{FILE_BITS} AND ?2>>{FILE_BITS} ORDER BY file,made,rowid"
    ),
)
"""What of a file decides the meanings of names: definitions, macros, the template's calls on type
parameters, Metal kernels looked up, stubs."""


def _grouped(word: str, *sections: Iterable[tuple[object, ...]]) -> Iterator[tuple[str, bytes]]:
    digests: dict[object, hashlib.blake2b] = {}
    for rows in sections:
        for owner, said in groupby(rows, itemgetter(0)):
            digest = digests.get(owner)
            if digest is None:
                digest = digests[owner] = hashlib.blake2b(digest_size=8)
            digest.update(json.dumps(list(said)).encode())
    return ((f"{word} {owner}", digest.digest()) for owner, digest in digests.items())


def _concerned(store: Store, owners: Iterable[str], names: Collection[str]) -> set[int]:
    """The files whose bodies use a name of a changed file, of a namespace for a dispatch key, of a
    class or another name of tensors that is new or gone, or that may construct a functor whose
    method code of a folder begins or ceases to call."""
    changed = [owner.partition(" ") for owner in owners]
    keys = [key for kind, _, key in changed if kind == _KEY]
    concerned = {file for key in keys for file in store.column(_IN_NAMESPACE, (f"%{key}",))}
    files = _files(owners)
    for number in files:
        concerned.update(store.files_with_edges_into(number), store.files_registering(number))
    if files:
        concerned.update(_running_lost_stubs(store), _asking_shaders(store, files))
    if classes := [name for kind, _, name in changed if kind == _CLASS]:
        concerned.update(store.files_calling(store.column(_METHODS, (json.dumps(classes),))))
    for name in (name for kind, _, name in changed if kind == _ALIAS):
        returning = store.column("SELECT name FROM definitions WHERE returns=?", (name,))
        concerned.update(store.files_calling(returning), store.column(_ON_ALIAS, (name,)))
    for folder, _, method in (name.rpartition(" ") for kind, _, name in changed if kind == _METHOD):
        having = store.column(_HAVING, (method,))
        concerned.update(store.files_calling(having), store.column(_IN_FOLDER, (f"{folder}/*",)))
    return concerned.union(store.files_calling(names), _registering(store, names))


def _files(owners: Iterable[str]) -> list[int]:
    return [int(n) for kind, _, n in (owner.partition(" ") for owner in owners) if kind == _FILE]


def _of_files(store: Store, owners: Iterable[str]) -> set[str]:
    """The names of changed definitions in the files, and of functors that may inherit from them."""
    names = more = {name for number in _files(owners) for name in store.names_of(number)}
    derived: list[tuple[str, str]] = list(store.query(_DERIVED)) if names else []
    while more:
        more = {name for name, base in derived if not more.isdisjoint(_WORD.findall(base))} - names
        names = names | more
    return names


_METHODS = "SELECT DISTINCT name FROM definitions WHERE scope IN (SELECT value FROM json_each(?))"
_HAVING = (
    "SELECT DISTINCT c.name FROM definitions m JOIN definitions c"
    " ON c.kind='class' AND m.scope=c.scope||'::'||c.name WHERE m.kind='function' AND m.name=?"
)
"""SQL for the classes that have a method."""
_DERIVED = (
    f"SELECT d.name,d.base FROM definitions d JOIN files f ON f.id=d.id>>{FILE_BITS}"
    " WHERE d.kind='class' AND d.base!='' AND f.path LIKE '%/native/%'"
)
_IN_FOLDER = "SELECT id FROM files WHERE path GLOB ?"
_ON_ALIAS = f"SELECT DISTINCT definition>>{FILE_BITS} FROM calls WHERE instr(receiver||arguments,?)"
_IN_NAMESPACE = f"SELECT DISTINCT definition>>{FILE_BITS} FROM calls WHERE qualifier LIKE ?"


def _of_operators(store: Store, owners: Iterable[str]) -> set[str]:
    """The names in bodies that can mean a changed operator: its own, and those of macros that
    contain it."""
    changed = (owner.partition(" ") for owner in owners)
    bases = [name for kind, _, name in changed if kind == _OPERATOR]
    names = more = {spelled.format(base) for base in bases for spelled in _SPELLINGS}
    while more:
        more = set(store.column(_HOLDING, (json.dumps(list(more)),))) - names
        names = names | more
    return names


_OVERLOADS = "_ops::"
"""The namespace of a class for each overload: ``at::_ops::mul_Tensor::redispatch``."""


def _using_operators(store: Store, names: Collection[str]) -> set[int]:
    """The files whose bodies use an operator by one of some names, or any by its overload."""
    sql = f"SELECT DISTINCT definition>>{FILE_BITS} FROM calls WHERE name IN ('call','redispatch')"
    by_overload = store.column(f"{sql} AND instr(qualifier,?)", (_OVERLOADS,)) if names else ()
    return {*store.files_calling(names), *by_overload}


_HOLDING = (
    "SELECT DISTINCT d.name FROM calls c JOIN definitions d ON d.id=c.definition"
    " WHERE d.kind='macro' AND c.name IN (SELECT value FROM json_each(?))"
)


def _running_lost_stubs(store: Store) -> set[int]:
    """The files with edges to a stub that has no line any more."""
    there = set(store.column("SELECT DISTINCT stub FROM uses WHERE stub NOT NULL"))
    sql = f"SELECT DISTINCT target,caller>>{FILE_BITS} FROM edges WHERE kind IN (?,?)"
    rows = store.query(sql, tuple(TO_STUBS))
    return {file for stub, file in rows if stub.rpartition("::")[2] not in there}


def _asking_shaders(store: Store, files: Collection[int]) -> Iterable[int]:
    """The files that look up Metal kernels, if a file with or asking for some changed, since the
    longest string that a kernel's name begins with wins."""
    paths: dict[int, str] = dict(store.query("SELECT id,path FROM files"))
    sql = f"SELECT DISTINCT id>>{FILE_BITS} FROM definitions WHERE kind='{SHADER}'"
    apple = any(paths.get(number, _APPLE[0]).endswith(_APPLE) for number in files)
    if not apple and not set(files).intersection(store.column(sql)):
        return ()
    return store.column(f"SELECT DISTINCT definition>>{FILE_BITS} FROM calls WHERE kind='{SHADER}'")


def _registering(store: Store, names: Collection[str]) -> set[int]:
    """The files that register a function of one of some names on a stub."""
    rows = store.query("SELECT DISTINCT file,function FROM registrations")
    return {file for file, function in rows if function_name(function) in names}
