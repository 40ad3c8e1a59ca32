"""The stage that adds kernels to PyTorch's operators beside those of its YAML: of extensions, from
their YAML, and those that TORCH_LIBRARY blocks register."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from indexes.build.links import aliases
from indexes.build.torchgen_rules import KERNEL_RULES, read_rules
from indexes.linking.extensions import (
    ExtensionKernel,
    Tree,
    file_kernels,
    library_kernels,
    library_of,
    without_doubles,
)
from indexes.linking.facts import LibraryUse
from indexes.linking.graph import device_of_key
from indexes.linking.kernels import Matchers
from indexes.linking.registrations import is_built, written_registrations
from indexes.model.files import MARK
from indexes.model.idioms import library_block
from indexes.model.vocabulary import NativeFunction, OperatorSummary, Problem
from indexes.readers.cxx.dispatch_keys import read_dispatch_keys
from indexes.readers.yaml.extensions import KernelFile, read_extension
from indexes.source.source import Source
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup
from indexes.store.registrations import library_uses, named_macros
from indexes.store.tables import BY_YAML, FILE_OF, LISTED, REGISTERED, dump, load, numbers

STAGE = "extensions"
_NO_FORMULA = "an operator of an extension has no entry in derivatives.yaml"
_WANTED = "names of extensions"
"""The key in ``meta`` for the names of functions in extensions' YAML."""
_OURS = f"hint IN ('{LISTED}','{REGISTERED}')"
_FILES = (
    "SELECT path,hash FROM files WHERE kind='yaml'"
    f" AND (path LIKE '{MARK}%' OR path LIKE 'third_party/%') ORDER BY path"
)


def extension_inputs(store: Store) -> Iterable[object]:
    """The inputs of extensions' kernels: their files, registrations, and definitions of the
    names."""
    files = store.query(_FILES)
    uses = _uses(Lookup(store))
    yield from (files, uses)
    if not (files or uses):
        return
    yield [store.meta(name) for name in ("operators", "links", "library operators")]
    yield store.query(
        "SELECT d.id,d.name,d.scope,d.kind,d.parameters,d.guard FROM definitions d WHERE d.name IN"
        " (SELECT value FROM json_each(?)) ORDER BY d.id",
        (store.meta(_WANTED) or "[]",),
    )


def _uses(lookup: Lookup) -> list[LibraryUse]:
    """The registrations for PyTorch's operators by extensions, and its own for a device."""
    every = library_uses(lookup)
    return [one for one in every if one.op and "::" not in one.op and _is_of_kernel(one)]


def _is_of_kernel(use: LibraryUse) -> bool:
    path, key = use.location.path, library_block(use.block).key
    return is_built(path) and bool(library_of(path) or device_of_key(key))


def keep_extensions(store: Store, source: Source) -> None:
    """Writes these kernels behind those of the YAML."""
    before = set(store.column(f"SELECT op FROM kernels WHERE {_OURS}"))
    store.db.execute(f"DELETE FROM kernels WHERE {_OURS}")
    store.db.execute(f"DELETE FROM ops WHERE library={BY_YAML}")
    files, problems = _read(store, source)
    _define(store, files)
    lookup = Lookup(store)
    uses = _uses(lookup)
    found: list[tuple[str, ExtensionKernel]] = []
    if files or uses:
        tree = _tree(store, source, lookup)
        listed = [one for file in files for one in file_kernels(file, tree)]
        found += [(LISTED, one) for one in without_doubles(listed, tree.kernels)]
        written = written_registrations(uses, named_macros(lookup, uses))
        found += [(REGISTERED, one) for one in library_kernels(written, tree)]
    store.insert("kernels", [_row(hint, one, lookup) for hint, one in found])
    store.set_problems(STAGE, problems)
    names = {one.symbol.rpartition("::")[2] for _, one in found}
    store.set_meta(_WANTED, json.dumps(sorted(names)))
    _keep_summaries(store, before | {one.op for _, one in found})


def _read(store: Store, source: Source) -> tuple[list[KernelFile], list[Problem]]:
    """The contents of extensions' YAML files, and problems."""
    files: list[KernelFile] = []
    problems: list[Problem] = []
    for path, _ in store.query(_FILES):
        file, wrong = read_extension(source.read(path), path)
        problems += wrong
        files += [file] if file else []
    return files, problems


def _define(store: Store, files: Iterable[KernelFile]) -> None:
    """Adds the operators that files define, behind the others."""
    known = set(store.column("SELECT full_name FROM ops"))
    given = (one.native for file in files for one in file.kernels if one.native)
    new = {one.full_name: one for one in given if one.full_name not in known}
    (last,) = store.column("SELECT max(position) FROM ops")
    rows = [
        (at, name, one.name, dump(one), None, _NO_FORMULA, "{}", dump(_summary(one)), BY_YAML)
        for at, (name, one) in enumerate(new.items(), (last or 0) + 1)
    ]
    store.insert("ops", rows)


def _summary(one: NativeFunction) -> OperatorSummary:
    """The row of the operator list before kernels are known."""
    what = (one.full_name, one.schema, one.location, (), one.tags, None, False)
    return OperatorSummary(*what, kind="plain")


def _tree(store: Store, source: Source, lookup: Lookup) -> Tree:
    header = source.locate("DispatchKey.h")
    keys = read_dispatch_keys(source.read(header), header)[0].runtime if header else ()
    rules, _ = read_rules(source, KERNEL_RULES)
    return Tree(
        natives={one.full_name: one for one in (*lookup.natives(), *lookup.library_operators())},
        kernels=frozenset(store.query("SELECT op,key FROM kernels WHERE path IS NULL")),
        keys=frozenset(key.name for key in keys),
        structured=rules.keys,
        facts=lookup,
        matches=Matchers(aliases(store)).of,
    )


def _row(hint: str, one: ExtensionKernel, lookup: Lookup) -> tuple[Any, ...]:
    known = filter(None, map(lookup.known, one.definitions))
    listed = ",".join(str(each.id) for each in known)
    what = (one.op, one.key, one.symbol, hint, one.op, one.location.line, one.rule)
    return (None, *what, one.kind, one.confidence, one.rule, one.reason, listed, one.location.path)


def _keep_summaries(store: Store, names: Iterable[str]) -> None:
    """Updates the keys in the rows of the operator list."""
    for name in sorted(names):
        for text in store.column("SELECT summary FROM ops WHERE full_name=?", (name,)):
            rows = store.query(
                "SELECT key,definitions FROM kernels WHERE op=? ORDER BY id", (name,)
            )
            keys = tuple(dict.fromkeys(key for key, _ in rows))
            files = tuple(dict.fromkeys(_paths(store, [listed for _, listed in rows])))
            made = replace(load(text, OperatorSummary), keys=keys, files=files)
            store.db.execute("UPDATE ops SET summary=? WHERE full_name=?", (dump(made), name))


def _paths(store: Store, listed: Sequence[str]) -> list[str]:
    found = [number for one in listed for number in numbers(one or "")]
    places: dict[int, str] = dict(
        store.query(
            "SELECT d.id,f.path FROM json_each(?) w JOIN definitions d ON d.id=w.value"
            f" JOIN files f ON f.id={FILE_OF}",
            (json.dumps(found),),
        )
    )
    return [places[number] for number in found if number in places]
