"""What stands around an operator: Python's entry points, docs, decompositions, OpInfo, tests
and owners; batch rules and autocast policies."""

from __future__ import annotations

from indexes.linking.hops import HopList, Link
from indexes.linking.python.around import around, owners
from indexes.linking.registrations import around_dispatch
from indexes.model.errors import SourceError
from indexes.model.vocabulary import NativeFunction
from indexes.readers.project.codeowners_file import read_codeowners
from indexes.source.source import Source
from indexes.store.lookup import Lookup
from indexes.store.python_rows import StoredPython
from indexes.store.torch_library import UNSEEN, written_for

MAX_TESTS = 40


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
