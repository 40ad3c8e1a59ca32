"""The rows of overloads in the index: what is kept of each, its Node classes and its kernels."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from indexes.codegen.fallback import Derivatives
from indexes.codegen.families import family
from indexes.codegen.rows import KeySets, Row
from indexes.codegen.variants import Generation
from indexes.model.vocabulary import DerivativeEntry, NativeFunction
from indexes.readers.project.torchgen_lists import ForeachRule
from indexes.store.codec import dump_native, moved
from indexes.store.definition_rows import ROWS, STEP, insert_many
from indexes.store.index_file import Store

Columns = tuple[str | None, ...]
_NOT_LINKED: Columns = (None,) * 5
Derived = tuple[int | None, str, bool, dict[str, str]]
"""Position of the derivative entry, the rule, whether it is the overload's own, Node names."""


def placed(functions: Iterable[NativeFunction]) -> dict[str, int]:
    """The positions of overloads by name, with room between them."""
    positions: dict[str, int] = {}
    for at, function in enumerate(functions):
        positions.setdefault(function.full_name, at * STEP)
    return positions


def differentiated(
    functions: Sequence[NativeFunction],
    entries: Sequence[tuple[int, DerivativeEntry]],
    foreach: ForeachRule,
) -> dict[str, Derived]:
    """What each overload, generated ones included, is differentiated by; entries have positions."""
    positions = {id(entry): at for at, entry in entries}
    matches = Derivatives(
        [entry for _, entry in entries], functions, foreach=foreach, complete=True
    )
    found: dict[str, Derived] = {}
    for function in functions:
        match_ = matches.find(function.full_name)
        at = None if match_.entry is None else positions[id(match_.entry)]
        found[function.full_name] = (at, match_.rule, match_.exact, dict(match_.grad_fns))
    return found


class MadeRows(NamedTuple):
    """Rows of overloads as they are kept, but for what linking adds to them."""

    ops: list[tuple[Any, ...]]
    nodes: list[tuple[Any, ...]]
    kernels: list[tuple[Any, ...]]


class OperatorRows:
    """Writes rows of overloads. ``lines`` tells by how many lines what stands at a position
    has moved since its rows were written: rows keep the lines of before."""

    def __init__(
        self, store: Store, positions: Mapping[str, int], lines: Callable[[int], int] = lambda _: 0
    ) -> None:
        self.store = store
        self.positions = positions
        self._lines = lines

    def add(
        self,
        functions: Sequence[NativeFunction],
        derived: Mapping[str, Derived],
        kernels: Iterable[Row],
    ) -> None:
        """Keeps overloads with all their rows, before they are linked."""
        self.write(self.made(functions, derived, kernels))

    def made(
        self,
        functions: Sequence[NativeFunction],
        derived: Mapping[str, Derived],
        kernels: Iterable[Row],
    ) -> MadeRows:
        """All rows of overloads."""
        ops = [(self.positions[f.full_name], *self.operator(f, derived)) for f in functions]
        return MadeRows(ops, self._nodes(functions, derived), self._kernels(kernels))

    def write(
        self,
        rows: MadeRows,
        links: Iterable[Columns] = repeat(_NOT_LINKED),
        summaries: Iterable[str | None] = repeat(None),
    ) -> None:
        """Keeps rows, with what is known by now of each kernel and each overload."""
        db = self.store.db
        db.executemany(
            "INSERT OR IGNORE INTO ops VALUES(?,?,?,?,?,?,?)",
            [(*row, summary) for row, summary in zip(rows.ops, summaries, strict=False)],
        )
        insert_many(db, "nodes", rows.nodes)
        kernels = zip(rows.kernels, links, strict=False)
        insert_many(db, "kernels", [(*row, *link) for row, link in kernels])

    def operator(
        self, function: NativeFunction, derived: Mapping[str, Derived]
    ) -> tuple[str, str, str, str, str]:
        """Full name, name, family, data and derivative of an overload."""
        lines = self._lines(self.positions[function.full_name])
        data = dump_native(moved(function, -lines))
        name = function.full_name
        return name, function.name, family(name), data, json.dumps(derived.get(name))

    def add_nodes(
        self, functions: Sequence[NativeFunction], derived: Mapping[str, Derived]
    ) -> None:
        """Keeps the Node classes of overloads."""
        insert_many(self.store.db, "nodes", self._nodes(functions, derived))

    def _nodes(
        self, functions: Sequence[NativeFunction], derived: Mapping[str, Derived]
    ) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for name in dict.fromkeys(f.full_name for f in functions if f.full_name in derived):
            at, _, _, nodes = derived[name]
            first = self.positions[name] * ROWS
            rows += [(first + n, node, name, at) for n, node in enumerate(nodes.values())]
        return rows

    def _kernels(self, rows: Iterable[Row]) -> list[tuple[Any, ...]]:
        counts: Counter[str] = Counter()
        values: list[tuple[Any, ...]] = []
        for row in rows:
            number = self.positions[row.op] * ROWS + counts[row.op]
            counts[row.op] += 1
            values.append((number, *self.kernel(row)))
        return values

    def kernel(self, row: Row) -> tuple[str, str, str, str, str, int, str]:
        """The columns of a kernel's row before it is linked."""
        source = row.source_function.full_name
        line = row.line - self._lines(self.positions[source])
        return row.op, row.key, row.symbol, row.kind_hint, source, line, row.rule

    def drop(self, names: Iterable[str], positions: Iterable[int]) -> None:
        """Removes overloads with all their rows."""
        first = [at * ROWS for at in positions]
        db = self.store.db
        db.executemany("DELETE FROM ops WHERE position=?", [(at // ROWS,) for at in first])
        db.executemany("DELETE FROM nodes WHERE id>=? AND id<?", [(at, at + ROWS) for at in first])
        db.executemany("DELETE FROM kernels WHERE op=?", [(name,) for name in names])


# ------------------------------------------------------------------ torchgen's rules


def dump_rules(keys: KeySets, foreach: ForeachRule) -> str:
    """What torchgen's rules say of kernels and derivatives, as text."""
    made = keys.generation
    return json.dumps([keys.structured, keys.ufunc, made.core, sorted(made.kept_tags), foreach])


def load_rules(text: str) -> tuple[KeySets, ForeachRule]:
    """The inverse of ``dump_rules``."""
    structured, ufunc, core, tags, foreach = json.loads(text)
    generation = Generation(core, frozenset(tags))
    return KeySets(tuple(structured), tuple(ufunc), generation), foreach
