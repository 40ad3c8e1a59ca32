"""The part of a build that reads the YAML files and links each row to its kernel."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from indexes.build_summaries import keep_summaries
from indexes.codec import dump_derivative, dump_native, load_native, plain
from indexes.codegen.cpp_types import (
    meta_parameters,
    native_parameters,
    normalize,
    split_parameters,
    structured_parameters,
)
from indexes.codegen.registrations import Rules
from indexes.codegen.rows import Row, kernel_rows
from indexes.codegen.variants import with_generated
from indexes.errors import SourceError
from indexes.linking.kernels import KernelLink, link_kernel, wanted_name, wanted_names
from indexes.model import Definition, EngineFunction, NativeFunction, Problem
from indexes.readers.native_functions import read_native_functions
from indexes.rows_sql import DEFINITION_COLUMNS, DEFINITION_JOIN, definition
from indexes.source import Source
from indexes.store import Store
from indexes.torchgen_rules import KERNEL_RULES, read_rules

Derived = tuple[int | None, str, bool, dict[str, str]]
"""Position of the derivative entry, the rule, whether it is the overload's own, Node names."""
_ENGINE_HEADERS = ("engine.h", "torch/csrc/autograd/graph_task.h")
OPERATOR_TABLES = ("ops", "derivatives", "nodes", "kernels", "documents")
OPERATOR_FILES = (
    "native_functions.yaml",
    "derivatives.yaml",
    *KERNEL_RULES,
    "TensorImpl.h",
    "c10/core/TensorImpl.cpp",
    "engine.cpp",
    "engine.h",
    "torch/csrc/autograd/graph_task.h",
)


def add_operators(store: Store, source: Source) -> tuple[NativeFunction, ...]:
    """Reads the YAML files into the store; returns all overloads, generated ones included.

    Raises SourceError when there is no operator at all: an empty index is no answer.
    """
    path = source.locate("native_functions.yaml")
    if path is None:
        raise SourceError(f"{source.root} has no native_functions.yaml")
    functions, problems = read_native_functions(source.read(path), path)
    if not functions:
        first = f": {problems[0].message}" if problems else ""
        raise SourceError(f"no operator could be read from {path}{first}")
    rules, unread = read_rules(source, KERNEL_RULES)
    everything = with_generated(functions, rules.keys.generation)
    _add_problems(store, [*problems, *unread])
    entries = _derivatives(store, source, everything, rules)
    _add_ops(store, everything, entries)
    _add_rows(store, kernel_rows(everything, rules.keys))
    _add_documents(store, source)
    return everything


def _add_problems(store: Store, problems: Iterable[Problem]) -> None:
    store.db.executemany(
        "INSERT INTO problems VALUES(?,?,?)", [(p.path, p.line, p.message) for p in problems]
    )


def _derivatives(
    store: Store, source: Source, functions: Sequence[NativeFunction], rules: Rules
) -> dict[str, Derived]:
    """Keeps the derivative entries; returns what each overload is differentiated by."""
    from indexes.codegen.fallback import Derivatives
    from indexes.readers.derivatives import read_derivatives

    path = source.locate("derivatives.yaml")
    if path is None:
        return {}
    entries, problems = read_derivatives(source.read(path), path, functions)
    _add_problems(store, problems)
    positions = {id(entry): at for at, entry in enumerate(entries)}
    store.db.executemany(
        "INSERT INTO derivatives VALUES(?,?,?)",
        [(positions[id(e)], e.op, dump_derivative(e)) for e in entries],
    )
    matches = Derivatives(entries, functions, foreach=rules.foreach)
    found: dict[str, Derived] = {}
    nodes = []
    for function in functions:
        match_ = matches.find(function.full_name)
        at = None if match_.entry is None else positions[id(match_.entry)]
        found[function.full_name] = (at, match_.rule, match_.exact, dict(match_.grad_fns))
        nodes += [(node, function.full_name, at) for node in match_.grad_fns.values()]
    store.db.executemany("INSERT INTO nodes VALUES(?,?,?)", nodes)
    return found


def _add_ops(
    store: Store, functions: Sequence[NativeFunction], entries: dict[str, Derived]
) -> None:
    store.db.executemany(
        "INSERT OR IGNORE INTO ops(position,full_name,base,data,derivative) VALUES(?,?,?,?,?)",
        [
            (at, f.full_name, f.name, dump_native(f), json.dumps(entries.get(f.full_name)))
            for at, f in enumerate(functions)
        ],
    )


def _add_rows(store: Store, rows: Iterable[Row]) -> None:
    store.db.executemany(
        "INSERT INTO kernels(op,key,symbol,hint,source_op,line,rule) VALUES(?,?,?,?,?,?,?)",
        [
            (r.op, r.key, r.symbol, r.kind_hint, r.source_function.full_name, r.line, r.rule)
            for r in rows
        ],
    )


def _add_documents(store: Store, source: Source) -> None:
    from indexes.readers.tensor_impl import read_members, with_accessors

    if path := source.locate("TensorImpl.h"):
        members, problems = read_members(source.read(path), path)
        if more := source.locate("c10/core/TensorImpl.cpp"):
            members = with_accessors(members, source.read(more), more)
        _document(store, "tensorimpl", plain(members))
        _add_problems(store, problems)
    _document(store, "engine", plain(_engine(store, source)))


def _engine(store: Store, source: Source) -> list[EngineFunction]:
    """The functions of engine.cpp, or what the headers of an installed torch tell of them."""
    from indexes.readers.engine import read_engine

    names = ("engine.cpp",) if source.locate("engine.cpp") else _ENGINE_HEADERS
    found: list[EngineFunction] = []
    for path in filter(None, map(source.locate, names)):
        functions, problems = read_engine(source.read(path), path)
        _add_problems(store, problems)
        found += functions
    return found


def _document(store: Store, name: str, data: Any) -> None:
    store.db.execute("INSERT OR REPLACE INTO documents VALUES(?,?)", (name, json.dumps(data)))


# ------------------------------------------------------------------------ linking


def link_kernels(
    store: Store, has_sources: bool, names: set[str] | None = None,
    natives: Iterable[NativeFunction] = (),
) -> int:  # fmt: skip
    """Links every row, or those that ``names`` of definitions could concern; returns how many.
    ``natives`` are overloads that need not be read from the store."""
    rows = store.query(_ROWS) if names is None else _rows_wanting(store, names)
    known = {f.full_name: f for f in natives}
    native = cache(lambda name: known.get(name) or _native(store, name))
    built = [(r[0], _row(r, native)) for r in rows]
    chosen = [(i, r) for i, r in built if names is None or names.intersection(wanted_names(r))]
    if not chosen:
        return 0
    candidates = _candidates(store, {n for _, r in chosen for n in wanted_names(r)})
    matcher = _Matchers(_aliases(store))
    links = []
    for rowid, row in chosen:
        found = [c for n in wanted_names(row) for c in candidates.get(n, ())]
        link = link_kernel(row, [c for _, c in found], matcher.of(row), has_sources)
        links.append(_link_values(link, found, rowid))
    store.db.executemany(
        "UPDATE kernels SET kind=?,confidence=?,link_rule=?,reason=?,definitions=? WHERE rowid=?",
        links,
    )
    keep_summaries(store, native, None if names is None else {row.op for _, row in chosen})
    return len(links)


_ROWS = "SELECT rowid,op,key,symbol,hint,source_op,line,rule FROM kernels"
_UFUNC = "symbol>='ufunc_' AND symbol<'ufunc`'"
"""What torchgen calls kernels whose loops have other names."""
_QUALIFIED = "instr(symbol,'::')"


def _rows_wanting(store: Store, names: set[str]) -> list[tuple[Any, ...]]:
    """The rows that definitions of these names could be kernels of."""
    qualified = [
        symbol
        for (symbol,) in store.query(f"SELECT DISTINCT symbol FROM kernels WHERE {_QUALIFIED}")
        if wanted_name(symbol, "") in names
    ]
    symbols = json.dumps([*names, *qualified])
    return store.query(
        f"{_ROWS} WHERE symbol IN (SELECT value FROM json_each(?)) OR {_UFUNC} ORDER BY rowid",
        (symbols,),
    )


def _native(store: Store, full_name: str) -> NativeFunction:
    return load_native(store.query("SELECT data FROM ops WHERE full_name=?", (full_name,))[0][0])


def _row(values: tuple[Any, ...], native: Callable[[str], NativeFunction]) -> Row:
    _, op, key, symbol, hint, source_op, line, rule = values
    return Row(op, key, symbol, hint, native(op), native(source_op), line, rule)


def _link_values(
    link: KernelLink, found: list[tuple[int, Definition]], rowid: int
) -> tuple[Any, ...]:
    numbers = {id(d): number for number, d in found}
    ids = ",".join(str(numbers[id(d)]) for d in link.definitions)
    return (link.kind, link.confidence, link.rule, link.reason, ids, rowid)


class _Matchers:
    """Compares parameters as written with those that torchgen expects of a row's kernel."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self._normal = cache(lambda type_: normalize(type_, aliases))

    def of(self, row: Row) -> Callable[[str], str]:
        """What ``cpp_types.match`` says against the parameters of one kernel; types that were
        brought to their one spelling before are not read again."""
        expected = tuple(self._normal(t) for t in _parameters(row))
        return lambda parameters: self._match(parameters, expected)

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


def _candidates(store: Store, names: set[str]) -> dict[str, list[tuple[int, Definition]]]:
    found: dict[str, list[tuple[int, Definition]]] = defaultdict(list)
    for values in store.query(
        f"SELECT {DEFINITION_COLUMNS} FROM json_each(?) w CROSS JOIN names n ON n.name=w.value"
        f" CROSS JOIN definitions d ON d.name=n.id {DEFINITION_JOIN}",
        (json.dumps(sorted(names)),),
    ):
        if values[4] in ("function", "impl_func", "meta_func"):
            found[values[1]].append((values[0], definition(values)))
    return found


def _aliases(store: Store) -> dict[str, str]:
    """Type aliases that the tree declares in its ATen and c10 namespaces."""
    rows = store.query(
        "SELECT name,target FROM aliases WHERE scope IN ('at','c10','at::native','at::sparse',"
        "'at::sparse_csr')"
    )
    return dict(rows)
