"""What stands around an operator: Python's entry points, docs, decompositions, OpInfo, tests
and owners; batch rules and autocast policies."""

from __future__ import annotations

from collections.abc import Iterable

from indexes.linking.hops import HopList, Link
from indexes.linking.python.around import around, owners
from indexes.linking.python.paths import Found
from indexes.linking.registrations import around_dispatch
from indexes.model.errors import SourceError
from indexes.model.vocabulary import NativeFunction
from indexes.readers.project.codeowners_file import read_codeowners
from indexes.readers.python.facts import PythonFact
from indexes.source.source import Source
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup
from indexes.store.outlines import classes_named, tests_containing
from indexes.store.torch_library import UNSEEN, written_for

_COLUMNS = "f.path,p.kind,p.target,p.symbol,p.line,p.end_line,p.detail"
_FROM = "python p JOIN files f ON f.id=p.file"
MAX_TESTS = 40


class StoredPython:
    """``indexes.linking.python.paths.PythonIndex`` over an index file."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def by_target(self, target: str) -> Iterable[Found]:
        """The rows with this ``target``."""
        return self._found("p.target=? AND p.target!=''", target)

    def tests_containing(self, text: str) -> Iterable[Found]:
        """The ``test`` rows whose symbol contains a text."""
        return tests_containing(self._store, text)

    def definitions(self, qualified: str) -> Iterable[Found]:
        """The ``def`` and ``class`` rows with this symbol."""
        rows = self._found("p.symbol=? AND p.kind IN ('def','class')", qualified)
        return rows or classes_named(self._store, qualified)

    def _found(self, where: str, value: str) -> list[Found]:
        rows = self._store.query(f"SELECT {_COLUMNS} FROM {_FROM} WHERE {where}", (value,))
        return [(row[0], PythonFact(*row[1:])) for row in rows]


def add_around(
    native: NativeFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    """Adds what stands around an overload in Python, its batch rules and autocast policies, and
    who owns its kernels' files."""

    def read(path: str) -> bytes | None:
        try:
            return source.read(path)
        except SourceError:
            return None

    links = around(native, StoredPython(facts.store), read)
    tests = [link for link in links if link.role == "test"]
    for link in [link for link in links if link.role != "test"] + tests[:MAX_TESTS]:
        _add(link, parent, hops)
    if len(tests) > MAX_TESTS:
        reason = f"{len(tests) - MAX_TESTS} more tests name it: `torchnav uses` lists them"
        hops.miss(parent, "test", native.full_name, reason)
    if source.kind == "wheel":
        hops.miss(parent, "batch_rule", native.full_name, UNSEEN)
    for link in around_dispatch(native.full_name, written_for(facts, native.full_name), facts):
        _add(link, parent, hops)
    _add_owners(native, parent, facts, hops, source)


def _add(link: Link, parent: int, hops: HopList) -> None:
    hops.add(
        parent,
        link.role,
        link.symbol,
        link.location,
        link.rule,
        link.confidence,
        keys=link.keys,
        evidence=link.evidence,
        note=link.note,
    )


def _add_owners(
    native: NativeFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    path = source.locate("CODEOWNERS")
    if path is None:
        return
    rules, _ = read_codeowners(source.read(path), path)
    rows = facts.kernels(native.full_name)
    files = dict.fromkeys(d.location.path for r in rows for d in r.definitions)
    for link in owners([native.location.path, *files], rules, path):
        _add(link, parent, hops)
