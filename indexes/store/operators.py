"""Operators, their kernels and derivatives in the index file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from json import dumps, loads

from indexes.linking.facts import Known
from indexes.model.vocabulary import (
    Confidence,
    Definition,
    DerivativeEntry,
    KernelKind,
    KernelRow,
    Location,
    NativeFunction,
    OperatorSummary,
)
from indexes.store.bodies import Definitions
from indexes.store.index_file import Store
from indexes.store.tables import LISTED, REGISTERED, load, load_all, numbers

_KERNELS = (
    "SELECT op,key,symbol,kind,confidence,link_rule,reason,definitions,path,line,source_op"
    " FROM kernels"
)
_LINKED = "SELECT value FROM kernels,json_each('['||definitions||']') WHERE definitions!=''"
"""The numbers of the definitions of all kernels."""


class Operators(Definitions):
    """Facts about overloads."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.native = lru_cache(8192)(self._native)
        self.kernels = lru_cache(4096)(self._kernels)
        self.overloads = lru_cache(2048)(self._overloads)
        self.has_kernels = lru_cache(64)(self._has_kernels)
        self.derived = lru_cache(2048)(self._derived)

    @cached_property
    def operator_names(self) -> tuple[str, ...]:
        """The full names of all overloads, in YAML order, then of those outside the YAML."""
        return tuple(self.store.column("SELECT full_name FROM ops ORDER BY position"))

    def _native(self, full_name: str) -> NativeFunction | None:
        found = self.store.column("SELECT data FROM ops WHERE full_name=?", (full_name,))
        return next((load(data, NativeFunction) for data in found), None)

    def _overloads(self, base: str) -> Sequence[NativeFunction]:
        if base not in self.bases:
            return ()  # as most names in bodies
        sql = "SELECT data FROM ops WHERE base=? ORDER BY position"
        return load_all(self.store.column(sql, (base,)), NativeFunction)

    @cached_property
    def bases(self) -> frozenset[str]:
        """The names of all operators, without overloads."""
        return frozenset(self.store.column("SELECT DISTINCT base FROM ops"))

    def natives(self) -> Sequence[NativeFunction]:
        """Every overload of native_functions.yaml, in YAML order."""
        sql = "SELECT data FROM ops WHERE library=0 ORDER BY position"
        return load_all(self.store.column(sql), NativeFunction)

    def library_operators(self) -> Sequence[NativeFunction]:
        """Every overload outside the YAML: of TORCH_LIBRARY blocks, of torch.library."""
        sql = "SELECT data FROM ops WHERE library>0 ORDER BY position"
        return load_all(self.store.column(sql), NativeFunction)

    def named_in_libraries(self, name: str) -> Sequence[NativeFunction]:
        """The overloads of a bare name in namespaces other than aten."""
        sql = "SELECT data FROM ops WHERE library>0 AND base LIKE '%::%' ORDER BY position"
        found = load_all(self.store.column(sql), NativeFunction)
        return [one for one in found if one.name.rpartition("::")[2] == name]

    def summaries(self, full_names: Sequence[str] | None = None) -> Sequence[OperatorSummary]:
        """Rows of the operator list in YAML order: all, or those of some overloads."""
        sql = "SELECT summary FROM ops"
        if full_names is not None:
            sql += " WHERE full_name IN (SELECT value FROM json_each(?))"
        given = () if full_names is None else (dumps(full_names),)
        return load_all(self.store.column(f"{sql} ORDER BY position", given), OperatorSummary)

    # ----------------------------------------------------------------------- kernels

    def _kernels(self, full_name: str) -> Sequence[KernelRow]:
        return tuple(self._kernel_rows("op=? ORDER BY rowid", full_name))

    def _kernel_rows(self, where: str, *given: object) -> list[KernelRow]:
        rows = self.store.query(f"{_KERNELS} WHERE {where}", given)
        return [self._kernel_row(self.by_id, *row) for row in rows]

    def _many_kernels(self, where: str) -> list[KernelRow]:
        linked = {one.id: one for one in self.definitions(f"d.id IN ({_LINKED})")}
        rows = self.store.query(f"{_KERNELS} WHERE {where} ORDER BY rowid")
        return [self._kernel_row(linked.get, *row) for row in rows]

    def _kernel_row(
        self,
        known: Callable[[int], Known | None],
        op: str,
        key: str,
        symbol: str,
        kind: KernelKind,
        confidence: Confidence,
        rule: str,
        reason: str,
        listed: str,
        path: str | None,
        line: int,
        source: str,
    ) -> KernelRow:
        found = map(known, numbers(listed))
        definitions = tuple(one.definition for one in found if one)
        placed, calls = Location(path, line) if path else None, ""
        if placed and kind == "python":
            module, _, name = symbol.rpartition(".")
            definitions = (Definition(name, module, "python", placed),)
            calls = source if source != op else ""
        what = (op, key, symbol, kind, definitions, confidence, rule, reason)
        return KernelRow(*what, placed, calls)

    def _has_kernels(self, key: str) -> bool:
        """Whether an operator of aten has a kernel for a key."""
        sql = "SELECT 1 FROM kernels WHERE key=? AND instr(op,'::')=0 LIMIT 1"
        return bool(self.store.query(sql, (key,)))

    def all_kernels(self) -> list[KernelRow]:
        """Every kernel row of the YAML's operators, in order."""
        return self._many_kernels("path IS NULL")

    def library_kernels(self) -> list[KernelRow]:
        """Every kernel row of the other operators."""
        beside = f"hint NOT IN ('{LISTED}','{REGISTERED}')"
        return self._many_kernels(f"path NOT NULL AND {beside}")

    def extension_kernels(self) -> list[KernelRow]:
        """The rows named by files of extensions, which torchgen would register."""
        return self._kernel_rows(f"hint='{LISTED}' ORDER BY rowid")

    def kernels_calling(self, op: str) -> Sequence[KernelRow]:
        return [row for row in self._kernel_rows("kind='python' AND source_op=?", op) if row.calls]

    def kernel_rows_of(self, definition: int) -> Sequence[KernelRow]:
        numbered = self._kernels_by_definition.get(definition, ())
        wanted = "id IN (SELECT value FROM json_each(?)) ORDER BY id"
        return tuple(self._kernel_rows(wanted, dumps(numbered))) if numbered else ()

    def generated_kernels(self) -> Sequence[str]:
        return self.store.column("SELECT DISTINCT op FROM kernels WHERE kind='generated'")

    def kernel_of(self, known: Known) -> Sequence[str]:
        """The overloads whose kernel a definition is."""
        return tuple(dict.fromkeys(row.op for row in self.kernel_rows_of(known.id)))

    @cached_property
    def _kernels_by_definition(self) -> dict[int, list[int]]:
        """The numbers of the kernels of each definition."""
        found: dict[int, list[int]] = {}
        rows = self.store.query("SELECT id,definitions FROM kernels WHERE definitions!=''")
        for kernel, listed in rows:
            for number in map(int, listed.split(",")):
                found.setdefault(number, []).append(kernel)
        return found

    # ------------------------------------------------------------------- derivatives

    def derivative(self, full_name: str) -> tuple[DerivativeEntry | None, str]:
        entry, rule, _ = self.derived(full_name)
        return entry, rule

    def _derived(self, full_name: str) -> tuple[DerivativeEntry | None, str, dict[str, str]]:
        """The entry, the rule, and the Node class for each autograd key."""
        sql = "SELECT derivative,derivative_rule,grad_fns FROM ops WHERE full_name=?"
        for position, rule, listed in self.store.query(sql, (full_name,)):
            if rule is None:
                break
            grad_fns: dict[str, str] = loads(listed)
            if position is None:
                return None, rule, grad_fns
            entry = self.entry(position)
            sets = tuple(replace(s, grad_fn=grad_fns.get(s.key)) for s in entry.sets)
            return replace(entry, sets=sets), rule, grad_fns
        return None, "derivatives.yaml is not in this tree", {}

    def entry(self, position: int) -> DerivativeEntry:
        sql = "SELECT data FROM derivatives WHERE position=?"
        (data,) = self.store.column(sql, (position,))
        return load(data, DerivativeEntry)

    def entries(self) -> Sequence[DerivativeEntry]:
        """All derivative entries in file order."""
        sql = "SELECT data FROM derivatives ORDER BY position"
        return load_all(self.store.column(sql), DerivativeEntry)

    def entries_with(self, text: str) -> Sequence[DerivativeEntry]:
        """The derivative entries whose text contains a word."""
        sql = "SELECT data FROM derivatives WHERE instr(words,?) ORDER BY position"
        return load_all(self.store.column(sql, (text,)), DerivativeEntry)

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        """The names of all Node classes."""
        return tuple(self.store.column("SELECT DISTINCT grad_fn FROM nodes"))

    def node_entries(self, grad_fn: str) -> list[DerivativeEntry]:
        """The derivative entries of a Node class."""
        sql = "SELECT DISTINCT position FROM nodes WHERE grad_fn=? AND position IS NOT NULL"
        return list(map(self.entry, self.store.column(sql, (grad_fn,))))

    def node_operators(self, grad_fn: str) -> list[str]:
        """The overloads that record a Node class, in YAML order."""
        return self.store.column(
            "SELECT DISTINCT n.op FROM nodes n JOIN ops o ON o.full_name=n.op WHERE n.grad_fn=?"
            " ORDER BY o.position",
            (grad_fn,),
        )

    def differentiated(self, entry: str) -> list[str]:
        """The overloads that the derivative entry of an operator differentiates."""
        return self.store.column(
            "SELECT DISTINCT n.op FROM nodes n JOIN derivatives d ON d.position=n.position"
            " JOIN ops o ON o.full_name=n.op WHERE d.op=? ORDER BY o.position",
            (entry,),
        )
