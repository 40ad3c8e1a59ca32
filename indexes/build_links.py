"""The part of a build that links each row of native_functions.yaml to its kernel."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import Any

from indexes.build_summaries import Kernels, keep_all_summaries, keep_summaries
from indexes.codec import load_native
from indexes.codegen.cpp_types import (
    meta_parameters,
    native_parameters,
    normalize,
    split_parameters,
    structured_parameters,
)
from indexes.codegen.rows import Row
from indexes.linking.kernels import (
    META,
    is_same_kernel,
    link_kernel,
    wanted_name,
    wanted_names,
)
from indexes.model import Definition, NativeFunction
from indexes.rows_sql import DEFINITION_COLUMNS, definition
from indexes.store import Store
from indexes.tables import FILE_OF


def link_kernels(
    store: Store, has_sources: bool, names: set[str] | None = None, ops: Collection[str] = (),
    natives: Iterable[NativeFunction] = (),
) -> int:  # fmt: skip
    """Links every row, or those that ``names`` of definitions could concern and those of ``ops``;
    returns how many. ``natives`` are overloads that need not be read from the store."""
    rows = store.query(_ROWS) if names is None else _rows_wanting(store, names, ops)
    known = {f.full_name: f for f in natives}
    native = cache(lambda name: known.get(name) or _native(store, name))
    chosen = [
        (number, row, wanted)
        for number, row, wanted in (_row(values, native) for values in rows)
        if names is None or row.op in ops or names.intersection(wanted)
    ]
    kernels = _link(store, has_sources, chosen) if chosen else {}
    if names is None:
        keep_all_summaries(store, native, kernels)
    else:
        keep_summaries(store, native, {*ops, *kernels})
    return len(chosen)


_Chosen = tuple[int, Row, tuple[str, ...]]
"""A row with its number, and the names of definitions that it wants."""


def _link(store: Store, has_sources: bool, chosen: list[_Chosen]) -> Kernels:
    candidates, numbers = _candidates(store, {n for *_, wanted in chosen for n in wanted})
    matcher = _Matchers(_aliases(store))
    links = []
    kernels: Kernels = {}
    last: Row | None = None
    for rowid, row, wanted in chosen:
        if last is None or not is_same_kernel(row, last):
            found = [c for name in wanted for c in candidates.get(name, ())]
            link = link_kernel(row, found, matcher.of(row), has_sources)
            ids = ",".join([str(numbers[id(d)]) for d in link.definitions])
        last = row
        links.append((link.kind, link.confidence, link.rule, link.reason, ids, rowid))
        paths = [d.location.path for d in link.definitions]
        kernels.setdefault(row.op, []).append((row.key, paths))
    store.db.executemany(
        "UPDATE kernels SET kind=?,confidence=?,link_rule=?,reason=?,definitions=? WHERE id=?",
        links,
    )
    return kernels


_ROWS = "SELECT id,op,key,symbol,hint,source_op,line,rule FROM kernels"
_UFUNC = "symbol>='ufunc_' AND symbol<'ufunc`'"
"""What torchgen calls kernels whose loops have other names."""
_QUALIFIED = "instr(symbol,'::')>0 AND symbol NOT GLOB '*::meta'"
"""As the index of the few such symbols has it."""


def _rows_wanting(store: Store, names: set[str], ops: Collection[str]) -> list[tuple[Any, ...]]:
    """The rows that definitions of these names could be kernels of, and those of ``ops``."""
    qualified = [
        symbol
        for (symbol,) in store.query(f"SELECT DISTINCT symbol FROM kernels WHERE {_QUALIFIED}")
        if wanted_name(symbol, "") in names
    ]
    metas = [META.format(name) for name in names]
    symbols = json.dumps([*names, *metas, *qualified])
    return store.query(
        f"{_ROWS} WHERE symbol IN (SELECT value FROM json_each(?)) OR {_UFUNC}"
        " OR op IN (SELECT value FROM json_each(?)) ORDER BY id",
        (symbols, json.dumps([*ops])),
    )


def _native(store: Store, full_name: str) -> NativeFunction:
    return load_native(store.query("SELECT data FROM ops WHERE full_name=?", (full_name,))[0][0])


def _row(values: tuple[Any, ...], native: Callable[[str], NativeFunction]) -> _Chosen:
    number, op, key, symbol, hint, source_op, line, rule = values
    row = Row(op, key, symbol, hint, native(op), native(source_op), line, rule)
    return number, row, wanted_names(row)


class _Matchers:
    """Compares parameters as written with those that torchgen expects of a row's kernel."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self._normal = cache(lambda type_: normalize(type_, aliases))

    def of(self, row: Row) -> Callable[[str], str]:
        """What ``cpp_types.match`` says against the parameters of one kernel; types that were
        brought to their one spelling before are not read again."""
        expected: list[tuple[str, ...]] = []  # most rows never ask

        def match(parameters: str) -> str:
            if not expected:
                expected.append(tuple(map(self._normal, _parameters(row))))
            return self._match(parameters, expected[0])

        return match

    def _match(self, parameters: str, expected: tuple[str, ...]) -> str:
        types = split_parameters(parameters)
        if len(types) != len(expected):
            return "no"
        return "same" if expected == tuple(map(self._normal, types)) else "arity"


def _parameters(row: Row) -> tuple[str, ...]:
    if row.symbol.endswith("::meta"):
        return meta_parameters(row.source_function)
    if row.kind_hint == "structured":
        return structured_parameters(row.source_function)
    return native_parameters(row.native, "_symint" in row.symbol)


def _candidates(
    store: Store, names: set[str]
) -> tuple[dict[str, list[Definition]], dict[int, int]]:
    """The definitions that could be kernels by name, and their numbers by their identity."""
    found: dict[str, list[Definition]] = defaultdict(list)
    numbers: dict[int, int] = {}
    for values in store.query(
        f"SELECT {DEFINITION_COLUMNS} FROM json_each(?) w CROSS JOIN definitions d"
        f" ON d.name=w.value JOIN files f ON f.id={FILE_OF}",
        (json.dumps(sorted(names)),),
    ):
        if values[4] in ("function", "impl_func", "meta_func"):
            made = definition(values)
            found[values[1]].append(made)
            numbers[id(made)] = values[0]
    return found, numbers


def _aliases(store: Store) -> dict[str, str]:
    """Type aliases that the tree declares in its ATen and c10 namespaces."""
    rows = store.query(
        "SELECT name,target FROM aliases WHERE scope IN ('at','c10','at::native','at::sparse',"
        "'at::sparse_csr')"
    )
    return dict(rows)
