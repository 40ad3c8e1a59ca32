"""Finds the kernel of an operator that ran, by the dispatch keys of its inputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from indexes.model.vocabulary import Definition, KernelRow
from indexes.queries.index import Index
from navigator.trace.evidence import serving_keys
from navigator.trace.program_code import RULE, ProgramCode


class Kernels:
    """Kernels of operators: from the tree, the torch that ran, and the program."""

    def __init__(self, index: Index, schemas: Index, code: ProgramCode) -> None:
        self._index = index
        self._schemas = schemas
        self._code = code

    def of(self, full_name: str) -> dict[str, KernelRow]:
        """The kernels of an operator, by dispatch key."""
        return self.rows.get(full_name, {})

    def possible(self, full_name: str, keys: tuple[str, ...]) -> Iterator[KernelRow]:
        """The kernels that serve a key; all of them if the key is unknown."""
        rows = self.of(full_name)
        if not keys:
            yield from rows.values()
        for key in keys:
            yield from islice((rows[one] for one in serving_keys(key) if one in rows), 1)

    def that_ran(
        self, full_name: str, keys: tuple[str, ...], reasons: list[str]
    ) -> KernelRow | None:
        """The kernel for the keys of a call, or None with a reason added to ``reasons``."""
        rows = self.rows.get(full_name)
        if rows is None:
            version = self._index.info.version
            is_there = full_name in self._of_tree
            what = f"no kernel of {full_name} was found in" if is_there else f"no {full_name} in"
            reasons.append(f"{what} the tree of {version}")
            return None
        if not keys:
            reasons.append(
                "the trace does not say which kind of tensor it ran on: one of the "
                f"kernels for {', '.join(rows)}"
            )
            return None
        row = self._serving(rows, keys, reasons)
        if row is not None and not row.definitions:
            reasons.append(row.reason or f"{row.symbol} was not found")
        return row

    def _serving(
        self, rows: dict[str, KernelRow], keys: tuple[str, ...], reasons: list[str]
    ) -> KernelRow | None:
        """The kernel for the key; with several keys, the one that serves all of them."""
        found = [next((rows[k] for k in serving_keys(key) if k in rows), None) for key in keys]
        found = [row for row in found if row] or found  # since it ran, there is a kernel
        first = found[0]
        if first is None and any(row.rule == RULE for row in rows.values()):
            reasons.append(f"no kernel for {keys[0]}: there are those for {', '.join(rows)}")
        elif first is None:
            reasons.append(
                f"no kernel for {keys[0]} in native_functions.yaml: it is registered elsewhere"
            )
        elif any(row is None or _functions(row) != _functions(first) for row in found):
            symbols = ", ".join(dict.fromkeys(row.symbol for row in found if row is not None))
            what = "kind of tensor" if any(k.endswith(keys[0]) for k in keys[1:]) else "device"
            reasons.append(f"the trace does not say on which {what} it ran: one of {symbols}")
            return None
        return first

    @cached_property
    def rows(self) -> dict[str, dict[str, KernelRow]]:
        """By operator and dispatch key."""
        table: defaultdict[str, dict[str, KernelRow]] = defaultdict(dict)
        for row in (*self._index.kernel_rows(), *self._index.library_kernel_rows()):
            table[row.op][row.key] = row
        for row in self._schemas.library_kernel_rows():
            if row.op not in self._of_tree:
                table[row.op][row.key] = row
        for op, rows in self._code.kernels.items():  # a program may replace kernels of torch
            known = table[op] if "::" in op else {}
            table[op].update({key: row for key, row in rows.items() if key not in known})
        return table

    @cached_property
    def _of_tree(self) -> frozenset[str]:
        return frozenset(op.full_name for op in self._index.operators())


def _functions(row: KernelRow) -> tuple[str, tuple[Definition, ...]]:
    return row.symbol, row.definitions
