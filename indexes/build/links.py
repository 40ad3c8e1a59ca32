"""The stage that links rows of native_functions.yaml to the definitions of their kernels, and
writes the operator list."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from indexes.codegen.rows import Row
from indexes.linking.kernels import (
    ALIAS_SCOPES,
    KERNEL_KINDS,
    Candidates,
    Kernels,
    link_rows,
    wanted_names,
)
from indexes.model.vocabulary import NativeFunction, OperatorSummary
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup
from indexes.store.tables import DEFINITION_COLUMNS, DEFINITION_FROM, dump, known

_WANTED = "wanted names"
"""The key in ``meta`` for the names of all definitions that could be kernels."""


def link_inputs(store: Store) -> tuple[Sequence[Any], ...]:
    """The inputs of links besides the operators: definitions that could be kernels, without lines,
    and type aliases."""
    candidates = store.query(
        "SELECT d.id,d.name,d.scope,d.kind,d.parameters,d.guard,d.macro,d.macro_path,d.macro_line,"
        f"d.base,f.path FROM {DEFINITION_FROM} WHERE {_IS_CANDIDATE} ORDER BY f.path,d.id",
        (store.meta(_WANTED) or "[]",),
    )
    return candidates, sorted(aliases(store).items())


_IS_CANDIDATE = (
    "d.name IN (SELECT value FROM json_each(?))"
    f" AND d.kind IN ({','.join(repr(kind) for kind in sorted(KERNEL_KINDS))})"
)


def link_kernels(store: Store, has_sources: bool) -> None:
    """Links every row. ``has_sources``: whether the tree can have kernels at all."""
    natives = {function.full_name: function for function in Lookup(store).natives()}
    numbered = list(_rows(store, natives))
    rows = [row for _, row in numbered]
    names = json.dumps(sorted({name for row in rows for name in wanted_names(row)}))
    store.set_meta(_WANTED, names)
    found = store.query(
        f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE {_IS_CANDIDATE}"
        " ORDER BY f.path,d.id",
        (names,),
    )
    candidates = Candidates((one.id, one.definition) for one in map(known, found))
    links, kernels = link_rows(rows, candidates, aliases(store), has_sources)
    store.db.executemany(
        "UPDATE kernels SET kind=?,confidence=?,link_rule=?,reason=?,definitions=? WHERE id=?",
        [(*link, number) for link, (number, _) in zip(links, numbered, strict=True)],
    )
    _keep_summaries(store, natives, kernels)


def _rows(store: Store, natives: Mapping[str, NativeFunction]) -> list[tuple[int, Row]]:
    sql = "SELECT id,op,key,symbol,hint,source_op,line,rule FROM kernels"
    sql += " WHERE path IS NULL ORDER BY id"
    return [
        (number, Row(op, key, symbol, hint, natives[op], natives[source_op], line, rule))
        for number, op, key, symbol, hint, source_op, line, rule in store.query(sql)
    ]


def aliases(store: Store) -> dict[str, str]:
    """Type aliases in the tree's ATen and c10 namespaces."""
    marks = ",".join("?" * len(ALIAS_SCOPES))
    sql = (
        "SELECT a.name,a.target FROM aliases a JOIN files f ON f.id=a.file"
        f" WHERE scope IN ({marks}) ORDER BY f.path,a.rowid"
    )
    return dict(store.query(sql, ALIAS_SCOPES))


def _keep_summaries(store: Store, natives: Mapping[str, NativeFunction], kernels: Kernels) -> None:
    """Stores the rows of the operator list."""
    sql = "SELECT full_name FROM ops WHERE derivative IS NOT NULL"
    differentiable = set(store.column(sql))
    rows = [
        (dump(_summary(one, name in differentiable, kernels.get(name, []))), name)
        for name, one in natives.items()
    ]
    store.db.executemany("UPDATE ops SET summary=? WHERE full_name=?", rows)


def _summary(
    native: NativeFunction, has_formula: bool, kernels: list[tuple[str, list[str]]]
) -> OperatorSummary:
    return OperatorSummary(
        full_name=native.full_name,
        schema=native.schema,
        location=native.location,
        keys=tuple(dict.fromkeys(key for key, _ in kernels)),
        tags=native.tags,
        python_module=native.python_module,
        has_derivative=has_formula,
        kind=_kind(native, kernels),
        files=tuple(dict.fromkeys(path for _, listed in kernels for path in listed)),
    )


def _kind(native: NativeFunction, kernels: list[tuple[str, list[str]]]) -> str:
    if "generated" in native.tags:
        return "autogen"
    if native.not_understood:
        return "unknown"
    if native.structured:
        return "structured"
    if native.structured_delegate:
        return "delegate"
    if not kernels:
        return "no kernel"
    composite = all(key.startswith("Composite") for key, _ in kernels)
    return "composite" if composite else "plain"
