"""The stage that reads the YAML files: overloads, derivatives, kernels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from indexes.build.yaml_files import read_yaml_files
from indexes.codegen.derivatives import Derivatives
from indexes.codegen.rows import Row, kernel_rows
from indexes.model.vocabulary import DerivativeEntry, NativeFunction
from indexes.readers.project.torchgen_lists import ForeachRule
from indexes.source.source import Source
from indexes.store.index_file import Store
from indexes.store.tables import OPERATOR_TABLES, dump

STAGE = "operators"


class _Derived(NamedTuple):
    """How an overload is differentiated."""

    position: int | None
    """Of the derivative entry."""
    rule: str
    grad_fns: Mapping[str, str]
    """The Node class for each autograd key."""


def read_operators(store: Store, source: Source) -> None:
    """Stores the contents of the YAML files, with kernels not linked yet.

    Raises SourceError if there is no operator at all.
    """
    found = read_yaml_files(source)
    store.set_problems(STAGE, found.problems)
    for table in OPERATOR_TABLES:
        store.db.execute(f"DELETE FROM {table}")
    functions, entries = found.functions, found.entries or ()
    known = found.entries is not None
    derived = _differentiated(functions, entries, found.rules.foreach) if known else {}
    _keep_derivatives(store, entries)
    _keep_overloads(store, functions, derived)
    _keep_kernels(store, kernel_rows(functions, found.rules.keys, complete=True))


def _differentiated(
    functions: Sequence[NativeFunction], entries: Sequence[DerivativeEntry], foreach: ForeachRule
) -> dict[str, _Derived]:
    """The derivative of each overload, generated ones included."""
    positions = {id(entry): at for at, entry in enumerate(entries)}
    matches = Derivatives(entries, functions, foreach=foreach, complete=True)
    found: dict[str, _Derived] = {}
    for name in dict.fromkeys(function.full_name for function in functions):
        match_ = matches.find(name)
        at = None if match_.entry is None else positions[id(match_.entry)]
        found[name] = _Derived(at, match_.rule, dict(match_.grad_fns))
    return found


def _keep_derivatives(store: Store, entries: Sequence[DerivativeEntry]) -> None:
    rows = [(at, one.op, dump(one), _words(one)) for at, one in enumerate(entries)]
    store.insert("derivatives", rows)


def _words(entry: DerivativeEntry) -> str:
    """What an entry says, without positions."""
    words = [entry.op, entry.schema, *(entry.output_differentiability or ())]
    for one in entry.sets:
        words += [one.key, one.grad_fn or ""]
        words += [word for formula in one.formulas for word in (*formula.inputs, formula.text)]
    return "\n".join(words)


def _keep_overloads(
    store: Store, functions: Sequence[NativeFunction], derived: Mapping[str, _Derived]
) -> None:
    named: dict[str, NativeFunction] = {}
    for function in functions:
        named.setdefault(function.full_name, function)  # of an entry that is there twice the first
    ops, nodes = [], []
    for at, (name, function) in enumerate(named.items()):
        how = derived.get(name)
        by = (how.position, how.rule, json.dumps(how.grad_fns)) if how else (None, None, None)
        ops.append((at, name, function.name, dump(function), *by, None, 0))
        nodes += [(None, node, name, how.position) for node in how.grad_fns.values()] if how else []
    store.insert("ops", ops)
    store.insert("nodes", nodes)


def _keep_kernels(store: Store, rows: Sequence[Row]) -> None:
    store.db.executemany(
        "INSERT INTO kernels(op,key,symbol,hint,source_op,line,rule) VALUES(?,?,?,?,?,?,?)",
        [
            (r.op, r.key, r.symbol, r.kind_hint, r.source_function.full_name, r.line, r.rule)
            for r in rows
        ],
    )
