"""The part of a refresh that links rows of native_functions.yaml to their kernels again."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import Any

from indexes.build.summaries import keep_all_summaries, keep_summaries
from indexes.codegen.rows import Row
from indexes.linking.kernel_rows import ALIAS_SCOPES, KERNEL_KINDS, Candidates, Kernels, link_rows
from indexes.linking.kernels import META, wanted_name, wanted_names
from indexes.model.vocabulary import Definition, NativeFunction
from indexes.store.codec import load_native
from indexes.store.definition_rows import DEFINITION_COLUMNS, definition
from indexes.store.index_file import Store
from indexes.store.tables import FILE_OF, QUALIFIED, UFUNC


def link_kernels(
    store: Store, has_sources: bool, names: set[str] | None = None, ops: Collection[str] = ()
) -> int:
    """Links every row, or those that ``names`` of definitions could concern and those of ``ops``;
    returns how many."""
    rows = store.query(_ROWS) if names is None else _rows_wanting(store, names, ops)
    native = cache(lambda name: _native(store, name))
    chosen = [
        (number, row)
        for number, row in (_row(values, native) for values in rows)
        if names is None or row.op in ops or names.intersection(wanted_names(row))
    ]
    kernels = _link(store, has_sources, chosen) if chosen else {}
    if names is None:
        keep_all_summaries(store, native, kernels)
    else:
        keep_summaries(store, native, {*ops, *kernels})
    return len(chosen)


def _link(store: Store, has_sources: bool, chosen: list[tuple[int, Row]]) -> Kernels:
    rows = [row for _, row in chosen]
    wanted = {name for row in rows for name in wanted_names(row)}
    candidates = Candidates(_candidates(store, wanted))
    links, kernels = link_rows(rows, candidates, _aliases(store), has_sources)
    store.db.executemany(
        "UPDATE kernels SET kind=?,confidence=?,link_rule=?,reason=?,definitions=? WHERE id=?",
        [(*link, number) for link, (number, _) in zip(links, chosen, strict=True)],
    )
    return kernels


_ROWS = "SELECT id,op,key,symbol,hint,source_op,line,rule FROM kernels"


def _rows_wanting(store: Store, names: set[str], ops: Collection[str]) -> list[tuple[Any, ...]]:
    """The rows that definitions of these names could be kernels of, and those of ``ops``."""
    qualified = [
        symbol
        for (symbol,) in store.query(f"SELECT DISTINCT symbol FROM kernels WHERE {QUALIFIED}")
        if wanted_name(symbol, "") in names
    ]
    metas = [META.format(name) for name in names]
    symbols = json.dumps([*names, *metas, *qualified])
    return store.query(
        f"{_ROWS} WHERE symbol IN (SELECT value FROM json_each(?)) OR {UFUNC}"
        " OR op IN (SELECT value FROM json_each(?)) ORDER BY id",
        (symbols, json.dumps([*ops])),
    )


def _native(store: Store, full_name: str) -> NativeFunction:
    return load_native(store.query("SELECT data FROM ops WHERE full_name=?", (full_name,))[0][0])


def _row(values: tuple[Any, ...], native: Callable[[str], NativeFunction]) -> tuple[int, Row]:
    number, op, key, symbol, hint, source_op, line, rule = values
    return number, Row(op, key, symbol, hint, native(op), native(source_op), line, rule)


def _candidates(store: Store, names: set[str]) -> Iterator[tuple[int, Definition]]:
    """The definitions with these names that could be kernels, with their numbers."""
    for values in store.query(
        f"SELECT {DEFINITION_COLUMNS} FROM json_each(?) w CROSS JOIN definitions d"
        f" ON d.name=w.value JOIN files f ON f.id={FILE_OF}",
        (json.dumps(sorted(names)),),
    ):
        if values[4] in KERNEL_KINDS:
            yield values[0], definition(values)


def _aliases(store: Store) -> dict[str, str]:
    """Type aliases that the tree declares in its ATen and c10 namespaces."""
    marks = ",".join("?" * len(ALIAS_SCOPES))
    sql = f"SELECT name,target FROM aliases WHERE scope IN ({marks})"
    return dict(store.query(sql, ALIAS_SCOPES))
