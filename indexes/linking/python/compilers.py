"""What compilers do with an operator: its decompositions by table, Inductor's lowering or fallback,
and whether it is of the core ATen set that export leaves in graphs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from indexes.codegen.variants import is_composite_implicit
from indexes.linking.python.paths import Found, PythonIndex, operator_targets, place_of
from indexes.model.answers import CoreAten, Decomposed, Inductor, InductorStatus, NamedPlace
from indexes.model.files import PythonFact, unpack
from indexes.model.vocabulary import Location, NativeFunction

CORE = "torch._decomp.core_aten_decompositions"
"""The function with the table that export uses by default."""
INDUCTOR = "torch._inductor.decomposition.decompositions"
"""Inductor's table, before those for random numbers are added."""
LOWERINGS = "torch._inductor.lowering.lowerings"
GLOBAL = "torch._decomp.global_decomposition_table"
_PASSED_ON = "table"


class _InTable(NamedTuple):
    """A table with a decomposition of an operator."""

    table: str
    found: Found


class Compilers:
    """The registrations for compilers of one operator in a tree's Python files."""

    def __init__(self, op: NativeFunction, facts: PythonIndex) -> None:
        self._op = op
        self._facts = facts
        overload, packet = operator_targets(op)
        self._rows = [row for name in (overload, packet) for row in facts.by_target(name)]
        listed = [row for row in self._rows if row[1].kind == _PASSED_ON]
        self._removed = {fact.symbol for _, fact in listed if "removed" in unpack(fact.detail)}
        self._kept = [row for row in listed if "kept" in unpack(row[1].detail)]
        self._listed = [fact.symbol for _, fact in listed if not unpack(fact.detail)]
        self._held = dict.fromkeys(self._holding())

    @property
    def tables(self) -> frozenset[str]:
        """The tables with a decomposition of it, other than torch._decomp's own."""
        return frozenset(one.table for one in self._held)

    def decompositions(self) -> tuple[Decomposed, ...]:
        """Each decomposition with its tables, its own first."""
        found: dict[NamedPlace, list[str]] = {}
        for row in self._of_kind("decomposition"):
            place = NamedPlace(row[1].symbol, place_of(row))
            tables = found.setdefault(place, [])
            tables += [_own_table(row[1])]
            tables += [one.table for one in self._held if one.found == row and self._is_named(one)]
        return tuple(
            Decomposed(place.name, place.location, tuple(dict.fromkeys(tables)))
            for place, tables in found.items()
        )

    def inductor(self) -> Inductor:
        """What Inductor does: decompose first, then use a lowering or a fallback."""
        registered = self.registered
        held = [one for one in self._held if one.table.startswith(_OF_INDUCTOR)]
        for one in sorted(held, key=_preference):
            return _decomposed(one, registered)
        if registered:
            return registered
        if self.is_composite:
            place = place_of(self._composite) if self._composite else None
            return Inductor("decomposed", place, _COMPOSITE_KEY, _COMPOSITE)
        return Inductor("none", None, "", _IMPLICIT)

    @cached_property
    def _composite(self) -> Found | None:
        """A Python kernel that precedes the composite one of C++."""
        rows = self._of_kind("py_impl")
        return next((row for row in rows if unpack(row[1].detail)["key"] == _COMPOSITE_KEY), None)

    @property
    def is_composite(self) -> bool:
        """Whether it is traced as its callees, by a C++ or Python kernel."""
        return is_composite_implicit(self._op) or self._composite is not None

    def core(self) -> CoreAten:
        """Whether export leaves the operator in graphs."""
        native = self._op
        if "core" in native.tags:
            line = native.field_lines.get("tags", native.location.line)
            return CoreAten(True, "yes", Location(native.location.path, line))
        for one in self._held:
            if one.table == CORE:
                return CoreAten(False, "no, decomposes", place_of(one.found))
        for row in self._kept:
            return CoreAten(False, "no, but export keeps it", place_of(row))
        if self.is_composite:
            return CoreAten(False, "no, decomposes into what it calls", native.location)
        return CoreAten(False, "no")

    # ---------------------------------------------------------------------- tables

    def _is_named(self, held: _InTable) -> bool:
        """Whether users know the table by this name, which is no intermediate one."""
        if held.table in (CORE, INDUCTOR):
            return True
        is_private = held.table.rpartition(".")[2].startswith("_")
        return held.table in self._listed and not is_private

    def _of_kind(self, kind: str) -> list[Found]:
        return [row for row in self._rows if row[1].kind == kind]

    def _holding(self) -> Iterator[_InTable]:
        """The tables with an entry of its own, and those that include them."""
        for row in self._of_kind("decomposition"):
            table = _own_table(row[1])
            if table != GLOBAL:
                yield from self._taken_over(table, row)
            elif unpack(row[1].detail).get("type", "post_autograd") == "post_autograd":
                for named in self._listed:
                    if named not in self._removed:
                        yield from self._taken_over(named, row)

    def _taken_over(self, table: str, row: Found) -> Iterator[_InTable]:
        """A table with a decomposition, and those that include it."""
        seen = {table}
        pending = [table]
        while pending:
            name = pending.pop()
            yield _InTable(name, row)
            users = [fact.symbol for _, fact in self._facts.by_target(name) if _takes(fact)]
            fresh = [one for one in users if one not in seen | self._removed]
            seen.update(fresh)
            pending += fresh

    # ------------------------------------------------------------------- lowerings

    @cached_property
    def registered(self) -> Inductor | None:
        """Its lowering, or else its fallback; unconditional ones first."""
        rows = sorted(self._of_kind("lowering"), key=lambda row: _rank(row[1]))
        for row in rows:
            status: InductorStatus = "fallback" if _is_fallback(row[1]) else "lowered"
            condition = unpack(row[1].detail).get("when", "")
            note = f"only if {condition}" if condition else ""
            return Inductor(status, place_of(row), LOWERINGS, note)
        return None


_OF_INDUCTOR = "torch._inductor.decomposition."
"""Inductor's tables of decompositions. Passes over graphs have tables of their own."""
_COMPOSITE_KEY = "CompositeImplicitAutograd"
_COMPOSITE = "composite: traced as what it calls"
_IMPLICIT = "nothing is registered: falls back to ATen"


def _takes(fact: PythonFact) -> bool:
    return fact.kind == _PASSED_ON and not fact.detail


def _own_table(fact: PythonFact) -> str:
    registry = unpack(fact.detail).get("registry", GLOBAL)
    return registry if "." in registry else f"{fact.symbol.rpartition('.')[0]}.{registry}"


def _preference(held: _InTable) -> tuple[bool, bool]:
    return held.table != _own_table(held.found[1]), held.table != INDUCTOR


def _decomposed(held: _InTable, registered: Inductor | None) -> Inductor:
    """The decomposition; if it may decline, the operator's lowering."""
    place = place_of(held.found)
    declines = "declines" in unpack(held.found[1].detail)
    if not declines or registered is None:
        note = "where it does not return NotImplemented" if declines else ""
        return Inductor("decomposed", place, held.table, note)
    if registered.status == "lowered":
        note = f"where the decomposition at {place} returns NotImplemented"
        return Inductor("lowered", registered.location, registered.table, note)
    note = f"where it returns NotImplemented, falls back to ATen ({registered.location})"
    return Inductor("decomposed", place, held.table, note)


def _is_fallback(fact: PythonFact) -> bool:
    return "fallback" in unpack(fact.detail).get("note", "")


def _rank(fact: PythonFact) -> tuple[bool, bool]:
    return "when" in unpack(fact.detail), _is_fallback(fact)
