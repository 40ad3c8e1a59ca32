"""An edited derivatives.yaml, brought into the index: its entries are read again, the overloads
and their kernels are taken from the index."""

from __future__ import annotations

import json

from indexes.build.operator_rows import Derived, OperatorRows, load_rules
from indexes.build.operators import add_derivatives
from indexes.source.source import Source
from indexes.store.codec import load_native
from indexes.store.definition_rows import OP_LINES
from indexes.store.index_file import Store


def renew_derivatives(store: Store, source: Source) -> set[str] | None:
    """Looks again at what every overload is differentiated by; the names of those that have a
    formula now and had none, or the other way round. None where the overloads are to be read
    again too."""
    if not store.query("SELECT 1 FROM texts"):
        return None  # they could not all be read
    _, foreach = load_rules(store.meta("generation rules") or "")
    rows = store.query(f"SELECT position,derivative,data,{OP_LINES} FROM ops ORDER BY position")
    functions = [load_native(*row[2:]) for row in rows]
    for table in ("derivatives", "nodes"):
        store.db.execute(f"DELETE FROM {table}")
    derived = add_derivatives(store, source, functions, foreach)
    names = [function.full_name for function in functions]
    positions = {name: row[0] for name, row in zip(names, rows, strict=True)}
    OperatorRows(store, positions).add_nodes(functions, derived)
    before = {name: row[1] for name, row in zip(names, rows, strict=True)}
    now = {name: json.dumps(derived.get(name)) for name in names}
    store.db.executemany(
        "UPDATE ops SET derivative=? WHERE full_name=?",
        [(text, name) for name, text in now.items() if text != before[name]],
    )
    return {n for n in names if _has_formula(json.loads(before[n])) != _has_formula(derived.get(n))}


def _has_formula(derived: Derived | None) -> bool:
    return derived is not None and derived[0] is not None
