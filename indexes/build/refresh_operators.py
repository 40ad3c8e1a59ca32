"""Edited entries of native_functions.yaml, brought into the index without reading the others.

What torchgen makes of an entry depends on entries of its families alone (``families``). Those of
the families that an edit touches are worked out anew as in a whole build; all others stay as they
are, but for the lines by which they moved.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from indexes.build.operator_rows import Derived, OperatorRows, differentiated, load_rules
from indexes.build.yaml_edit import Edit, find_edit
from indexes.codegen.families import closed, family, named_families
from indexes.codegen.rows import Row, kernel_rows
from indexes.codegen.variants import is_generated, with_generated
from indexes.model.vocabulary import DerivativeEntry, NativeFunction
from indexes.store.codec import load_derivative, load_native
from indexes.store.definition_rows import OP_LINES, STEP
from indexes.store.index_file import Store


class _Kept(NamedTuple):
    """An overload as the index has it."""

    position: int
    function: NativeFunction
    data: str
    derivative: str


MOST_SHIFTS = 32
"""Places from which entries have moved; with more, every question would count them up."""


def renew_entries(store: Store, path: str, data: bytes) -> set[str] | None:
    """Brings the overloads up to ``data``; the names of those whose kernels are to be linked
    again, or None where only reading every entry is sure to be right."""
    texts = store.query("SELECT data FROM texts WHERE path=?", (path,))
    edit = find_edit(texts[0][0], data, path) if texts else None
    if edit is None or store.query("SELECT count(*) FROM shifts")[0][0] >= MOST_SHIFTS:
        return None
    renewed = _Renewal(store, edit).run()
    if renewed is not None:
        store.db.execute("UPDATE texts SET data=? WHERE path=?", (data, path))
    return renewed


class _Renewal:
    def __init__(self, store: Store, edit: Edit) -> None:
        self.store = store
        self.edit = edit
        self.keys, self.foreach = load_rules(store.meta("generation rules") or "")
        groups = json.loads(store.meta("joined families") or "[]")
        self.families = closed((family(f.name) for f in (*edit.before, *edit.after)), groups)
        self.kept = self._kept()
        self.gone = {f.full_name for f in edit.before}

    def _kept(self) -> dict[str, _Kept]:
        """The overloads of the families, in order."""
        rows = self.store.query(
            f"SELECT position,data,{OP_LINES},derivative FROM ops"
            " WHERE family IN (SELECT value FROM json_each(?)) ORDER BY position",
            (json.dumps(sorted(self.families)),),
        )
        kept = [_Kept(r[0], load_native(r[1], r[2]), r[1], r[3]) for r in rows]
        return {one.function.full_name: one for one in kept}

    def run(self) -> set[str] | None:
        """What ``renew_entries`` does for one edit."""
        if not self._is_sure():
            return None
        functions = with_generated(self._declared(), self.keys.generation)
        positions = self._positions(functions)
        if positions is None:
            return None
        entries = self._entries(functions)
        if entries is None:
            return None
        self._shift(functions, positions)
        has_formulas = any(json.loads(kept.derivative) for kept in self.kept.values())
        derived = differentiated(functions, entries, self.foreach) if has_formulas else {}
        return self._write(functions, positions, derived)

    def _is_sure(self) -> bool:
        """Whether the index has the entries as they were, and what they are now concerns no
        other family and takes no other entry's name."""
        for function in self.edit.before:
            kept = self.kept.get(function.full_name)
            if kept is None or kept.function != function:
                return False
        named = set[str]().union(*map(named_families, self.edit.after))
        taken = self.kept.keys() - self.gone
        return named <= self.families and taken.isdisjoint(f.full_name for f in self.edit.after)

    def _declared(self) -> list[NativeFunction]:
        """The entries of the families as they are now."""
        listed: list[NativeFunction] = []
        for name, kept in self.kept.items():
            if name == self.edit.before[0].full_name:
                listed += self.edit.after
            if name not in self.gone and not is_generated(kept.function):
                listed.append(kept.function)
        return listed

    # ------------------------------------------------------------------------ positions

    def _positions(self, functions: Sequence[NativeFunction]) -> dict[str, int] | None:
        """Where each overload stands: where it stood, or in the room behind the one before it.
        None where the order is another one, or there is no room."""
        names = [f.full_name for f in functions]
        positions = {n: self.kept[n].position for n in names if n in self.kept}
        if list(positions.values()) != sorted(positions.values()):
            return None
        dropped = json.dumps([k.position for n, k in self.kept.items() if n not in positions])
        for last, added in self._added(names):
            behind = self._before_the_edit() if last is None else positions[last]
            places = self._room(behind, len(added), dropped)
            if places is None:
                return None
            positions |= zip(added, places, strict=True)
        return {name: positions[name] for name in names}

    def _added(self, names: Sequence[str]) -> list[tuple[str | None, list[str]]]:
        """New names in a row, each behind the name before; None before the first edited entry."""
        runs: list[tuple[str | None, list[str]]] = []
        last: str | None = None
        is_open = False
        for name in names:
            is_first = name == self.edit.after[0].full_name
            if name not in self.kept:
                if not is_open or is_first:
                    runs.append((None if is_first else last, []))
                runs[-1][1].append(name)
            is_open = name not in self.kept
            last = name
        return runs

    def _before_the_edit(self) -> int:
        first = self.kept[self.edit.before[0].full_name].position
        rows = self.store.query("SELECT max(position) FROM ops WHERE position<?", (first,))
        return -1 if rows[0][0] is None else int(rows[0][0])

    def _room(self, last: int, count: int, dropped: str) -> list[int] | None:
        """Free positions between ``last`` and the next overload that stays."""
        rows = self.store.query(
            "SELECT min(position) FROM ops WHERE position>?"
            " AND position NOT IN (SELECT value FROM json_each(?))",
            (last, dropped),
        )
        following = last + STEP * (count + 1) if rows[0][0] is None else rows[0][0]
        step = (following - last) // (count + 1)
        return [last + step * (n + 1) for n in range(count)] if step else None

    def _shift(self, functions: Sequence[NativeFunction], positions: Mapping[str, int]) -> None:
        """Notes by how many lines everything behind the edit moved. From here on rows of what is
        behind it are written as if it had not moved."""
        self._moved = self.store.query("SELECT position,lines FROM shifts")
        last = self.edit.after[-1].full_name
        names = iter(functions)
        while next(names).full_name != last:
            pass
        behind = positions[last]
        for function in names:
            if not is_generated(function):
                break
            behind = positions[function.full_name]
        if self.edit.lines:
            self.store.db.execute(
                "INSERT INTO shifts VALUES(?,?)"
                " ON CONFLICT(position) DO UPDATE SET lines=lines+excluded.lines",
                (behind + 1, self.edit.lines),
            )

    def _lines(self, position: int) -> int:
        return sum(lines for start, lines in self._moved if start <= position)

    # ----------------------------------------------------------------------- derivatives

    def _entries(
        self, functions: Sequence[NativeFunction]
    ) -> list[tuple[int, DerivativeEntry]] | None:
        """The derivative entries of the families with their positions; None where one of them
        has an operator now and had none before, or the other way round."""
        rows = self.store.query("SELECT position,op,data FROM derivatives ORDER BY position")
        entries = [
            (at, load_derivative(data)) for at, op, data in rows if family(op) in self.families
        ]
        before = [kept.function for kept in self.kept.values()]
        same = _without_operator(entries, before) == _without_operator(entries, functions)
        return entries if same else None

    # ---------------------------------------------------------------------------- rows

    def _write(
        self,
        functions: Sequence[NativeFunction],
        positions: Mapping[str, int],
        derived: Mapping[str, Derived],
    ) -> set[str]:
        """Writes the rows that differ; returns the overloads to link."""
        kernels: dict[str, list[Row]] = {f.full_name: [] for f in functions}
        for row in kernel_rows(functions, self.keys):
            kernels[row.op].append(row)
        writer = OperatorRows(self.store, positions, self._lines)
        changed = [f for f in functions if self._differs(writer, f, derived, kernels)]
        names = {f.full_name for f in changed}
        dropped = {n: k.position for n, k in self.kept.items() if n in names or n not in positions}
        writer.drop(dropped.keys(), dropped.values())
        writer.add(changed, derived, [row for n in names for row in kernels[n]])
        rows = (row for listed in kernels.values() for row in listed)
        return names | {row.op for row in rows if row.source_function.full_name in names}

    def _differs(
        self,
        writer: OperatorRows,
        function: NativeFunction,
        derived: Mapping[str, Derived],
        kernels: Mapping[str, list[Row]],
    ) -> bool:
        """Whether an overload is not as the index has it."""
        name = function.full_name
        kept = self.kept.get(name)
        if kept is None or writer.operator(function, derived)[3:] != (kept.data, kept.derivative):
            return True
        rows = self.store.query(
            "SELECT op,key,symbol,hint,source_op,line,rule FROM kernels WHERE op=? ORDER BY id",
            (name,),
        )
        return rows != [writer.kernel(row) for row in kernels[name]]


def _without_operator(
    entries: Iterable[tuple[int, DerivativeEntry]], functions: Sequence[NativeFunction]
) -> list[int]:
    """The positions of entries whose schema no operator has, which are problems."""
    schemas = {function.schema for function in functions}
    generated = {name for function in functions for name in function.autogen}
    return [at for at, e in entries if e.schema not in schemas and e.op not in generated]
