"""Compares two indexes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from indexes.linking.graph import Node
from indexes.linking.reverse import operators_reaching
from indexes.model.vocabulary import DerivativeEntry, KernelRow, NativeFunction
from indexes.queries.diff.bodies import Bodies
from indexes.queries.diff.kernels import Functions, Operators, kernel_changes, stub_changes
from indexes.queries.diff.model import FACETS, Change, Diff, Facet
from indexes.queries.diff.operators import deprecated_changes, formula_changes, operator_changes
from indexes.queries.diff.public_names import api_changes
from indexes.queries.diff.surroundings import SURROUNDINGS, surroundings_changes
from indexes.queries.diff.surroundings import lacks as surroundings_lack
from indexes.queries.index import Index
from indexes.queries.uses import stub_names
from indexes.readers.project.allow_list import Allowed, read_allow_list
from indexes.readers.yaml.derivatives import Deprecated, read_deprecated
from indexes.source.versions import open_version

_CHECK = "test/forward_backward_compatibility/check_forward_backward_compatibility.py"
_IN_SOURCES: tuple[Facet, ...] = ("kernel", "stub", "dtypes")


def compare(before: Index, after: Index, facets: Iterable[Facet] = FACETS) -> Diff:
    """All differences between two versions, in the order of ``FACETS``."""
    wanted = set(facets)
    changes: list[Change] = []
    if wanted & {"operator", "schema", "dispatch", "entry", "tags"}:
        allowed = _allow_list(after)
        libraries = not any(one.source.kind == "wheel" for one in (before, after))
        found = operator_changes(_natives(before, libraries), _natives(after, libraries))
        changes += (_allowed(change, allowed) for change in found)
    if "formula" in wanted:
        changes += formula_changes(_entries(before), _entries(after))
    if "deprecated" in wanted:
        changes += deprecated_changes(_deprecated(before), _deprecated(after))
    notes = _uncompared(before, after, wanted)
    if wanted.intersection(_IN_SOURCES) and not notes:
        changes += _of_functions(before, after)
    for facet in SURROUNDINGS:
        if facet in wanted:
            lacking = surroundings_lack(facet, before, after)
            notes += (lacking,) if lacking else ()
            if not lacking or facet == "docs":
                changes += surroundings_changes(before, after, facet)
    if "api" in wanted:
        changes += api_changes(before, after)
    chosen = [change for change in changes if change.facet in wanted]
    chosen.sort(key=lambda change: FACETS.index(change.facet))
    return Diff(before.info, after.info, tuple(chosen), notes)


def _of_functions(before: Index, after: Index) -> Iterator[Change]:
    functions = Functions(Bodies(before.source, before.dtypes), Bodies(after.source, after.dtypes))
    yield from kernel_changes(_kernels(before), _kernels(after), functions)
    operators = (_operators(before), _operators(after))
    yield from stub_changes(before.stub_rows(), after.stub_rows(), functions, operators)


def _operators(index: Index) -> Operators:
    def reaching_stub(stub: str) -> tuple[str, ...]:
        nodes = [Node("stub", name) for name in stub_names(index.facts, stub)]
        return tuple(sorted({way.op for way in operators_reaching(nodes, index.facts)}))

    return cache(reaching_stub)


def _natives(index: Index, libraries: bool) -> dict[str, NativeFunction]:
    """The operators of a version; including ``libraries``, whose source a wheel lacks."""
    found = {function.full_name: function for function in index.all_natives()}
    others = index.library_operators() if libraries else ()
    return {**found, **{function.full_name: function for function in others}}


def _kernels(index: Index) -> Iterator[KernelRow]:
    yield from index.kernel_rows()
    yield from index.library_kernel_rows()


def _entries(index: Index) -> dict[str, DerivativeEntry]:
    return {entry.op: entry for entry in index.derivative_rows()}


def _deprecated(index: Index) -> tuple[Deprecated, ...]:
    path = index.source.locate("deprecated.yaml")
    return read_deprecated(index.source.read(path), path)[0] if path else ()


def _uncompared(before: Index, after: Index, wanted: set[Facet]) -> tuple[str, ...]:
    if not wanted.intersection(_IN_SOURCES):
        return ()
    lacking = [i.info for i in (before, after) if i.source.kind == "wheel"]
    return tuple(
        f"kernels, stubs and dtypes are not compared: {info.version} is a wheel, without"
        " .cpp, .cu and .mm files"
        for info in lacking
    )


def _allow_list(index: Index) -> tuple[Allowed, ...]:
    path = index.source.locate(_CHECK)
    return read_allow_list(index.source.read(path), path) if path else ()


def _allowed(change: Change, allowed: tuple[Allowed, ...]) -> Change:
    """Notes that PyTorch's own check allows a break."""
    if change.backward != "breaking" or change.before is None:
        return change
    entry = next((one for one in allowed if one.fits(change.before.text)), None)
    if entry is None:
        return change
    under = " on a condition" if entry.conditional else ""
    words = f"allow-listed{under} until {entry.until}: {entry.location}"
    return replace(change, rules=(*change.rules, words))


# ---------------------------------------------------------------------------- choosing


def select(
    diff: Diff, ops: Iterable[str] = (), key: str | None = None, breaking: bool = False
) -> Diff:
    """The part of a diff about ``ops`` (base names too), a dispatch key, or breaks."""
    names = set(ops)
    chosen = [
        change
        for change in diff.changes
        if (not names or any({op, op.partition(".")[0]} & names for op in change.ops))
        and (key is None or key in change.subject.replace(",", " ").split())
        and (not breaking or change.backward == "breaking")
    ]
    return replace(diff, changes=tuple(chosen))


def compare_with(name: str, index: Index) -> Diff:
    """All differences between a version, by name (see ``open_version``), and an open index.

    The version's index is cached. Raises SourceError.
    """
    source = open_version(name, index.source)
    with contextlib.closing(Index.open(source, index.cache)) as before:
        return compare(before, index)
