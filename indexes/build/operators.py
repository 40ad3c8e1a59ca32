"""The part of a build that reads the YAML files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from indexes.build.operator_files import DERIVATIVES, NATIVE
from indexes.build.operator_rows import Derived, OperatorRows, differentiated, dump_rules, placed
from indexes.build.yaml_files import read_yaml_files
from indexes.codegen.families import joined
from indexes.codegen.registrations import Rules
from indexes.codegen.rows import Row, kernel_rows
from indexes.model.vocabulary import DerivativeEntry, EngineFunction, NativeFunction, Problem
from indexes.readers.project.torchgen_lists import ForeachRule
from indexes.readers.yaml.derivatives import read_derivatives
from indexes.source.source import Source
from indexes.store.codec import dump_derivative, plain
from indexes.store.index_file import Store

_ENGINE_HEADERS = ("engine.h", "torch/csrc/autograd/graph_task.h")
OPERATOR_TABLES = ("ops", "derivatives", "nodes", "kernels", "shifts", "texts", "documents")


class Operators(NamedTuple):
    """What the YAML files say of all overloads, generated ones included."""

    functions: tuple[NativeFunction, ...]
    derived: Mapping[str, Derived]
    """What each overload is differentiated by, by its full name."""
    kernels: list[Row]

    def rows(self, store: Store) -> OperatorRows:
        """What writes them."""
        return OperatorRows(store, placed(self.functions))


def add_operators(store: Store, source: Source) -> None:
    """Reads the YAML files into the store. Raises as ``read_operators`` does."""
    found = read_operators(store, source)
    found.rows(store).add(found.functions, found.derived, found.kernels)


def read_operators(store: Store, source: Source) -> Operators:
    """Reads the YAML files into the store, all but what is kept of each overload, which is
    returned. Raises SourceError when there is no operator at all."""
    found = read_yaml_files(source)
    functions, rules = found.functions, found.rules
    _add_problems(store, found.problems)
    derived: dict[str, Derived] = {}
    if found.entries is not None:
        derived = keep_derivatives(store, found.entries, functions, rules.foreach)
    readable = not any(problem.path == source.path_of(NATIVE) for problem in found.problems)
    if readable and len({f.full_name for f in functions}) == len(functions):
        _keep_text(store, source, functions, rules)
    add_documents(store, source)
    return Operators(functions, derived, kernel_rows(functions, rules.keys, complete=True))


def _add_problems(store: Store, problems: Iterable[Problem]) -> None:
    for problem in problems:
        store.add_problem(problem.path, problem.line, problem.message)


def add_derivatives(
    store: Store, source: Source, functions: Sequence[NativeFunction], foreach: ForeachRule
) -> dict[str, Derived]:
    """Reads and keeps the derivative entries; returns what each overload is differentiated by."""
    path = source.locate(DERIVATIVES)
    if path is None:
        return {}
    entries, problems = read_derivatives(source.read(path), path, functions)
    _add_problems(store, problems)
    return keep_derivatives(store, entries, functions, foreach)


def keep_derivatives(
    store: Store,
    entries: Sequence[DerivativeEntry],
    functions: Sequence[NativeFunction],
    foreach: ForeachRule,
) -> dict[str, Derived]:
    """Keeps the derivative entries; returns what each overload is differentiated by."""
    store.db.executemany(
        "INSERT INTO derivatives VALUES(?,?,?)",
        [(at, entry.op, dump_derivative(entry)) for at, entry in enumerate(entries)],
    )
    return differentiated(functions, list(enumerate(entries)), foreach)


def _keep_text(
    store: Store, source: Source, functions: Sequence[NativeFunction], rules: Rules
) -> None:
    """Keeps what an edit of single entries is compared with, where every entry was read."""
    path = source.path_of(NATIVE)
    store.db.execute("INSERT INTO texts VALUES(?,?)", (path, source.read(path)))
    store.set_meta("generation rules", dump_rules(rules.keys, rules.foreach))
    store.set_meta("joined families", json.dumps(joined(functions)))


def add_documents(store: Store, source: Source) -> None:
    from indexes.readers.cxx.tensor_impl import read_members, with_accessors

    if path := source.locate("TensorImpl.h"):
        members, problems = read_members(source.read(path), path)
        if more := source.locate("c10/core/TensorImpl.cpp"):
            members = with_accessors(members, source.read(more), more)
        _document(store, "tensorimpl", plain(members))
        _add_problems(store, problems)
    _document(store, "engine", plain(_engine(store, source)))


def _engine(store: Store, source: Source) -> list[EngineFunction]:
    """The functions of engine.cpp, or what the headers of an installed torch tell of them."""
    from indexes.readers.cxx.engine import read_engine

    names = ("engine.cpp",) if source.locate("engine.cpp") else _ENGINE_HEADERS
    found: list[EngineFunction] = []
    for path in filter(None, map(source.locate, names)):
        functions, problems = read_engine(source.read(path), path)
        _add_problems(store, problems)
        found += functions
    return found


def _document(store: Store, name: str, data: Any) -> None:
    store.db.execute("INSERT OR REPLACE INTO documents VALUES(?,?)", (name, json.dumps(data)))
