"""Collects the hops of a chain in display order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from indexes.model.vocabulary import (
    Choice,
    Confidence,
    Definition,
    DtypeDispatch,
    Hop,
    Location,
    Role,
    Unresolved,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

MAX_HOPS = 1500
"""A chain is for reading; beyond this it says that it was cut."""


@dataclass(frozen=True, slots=True)
class Link:
    """One thing around an operator."""

    role: Role
    symbol: str
    location: Location
    rule: str
    confidence: Confidence
    note: str = ""
    evidence: tuple[Location, ...] = ()
    keys: tuple[str, ...] = ()


class Details(TypedDict, total=False):
    """What a hop may say besides; the fields of ``Hop``."""

    device: str | None
    note: str
    dtypes: tuple[DtypeDispatch, ...]
    choices: tuple[Choice, ...]


class HopList:
    """Hops so far. A hop that says what its parent's other child says is not added twice."""

    def __init__(self) -> None:
        self.hops: list[Hop] = []
        self.unresolved: list[Unresolved] = []
        self._seen: dict[tuple[object, ...], int] = {}

    @property
    def full(self) -> bool:
        """Whether no more is taken."""
        return len(self.hops) >= MAX_HOPS

    def add(
        self,
        parent: int | None,
        role: Role,
        symbol: str,
        location: Location | None,
        rule: str,
        confidence: Confidence = "exact",
        *,
        keys: Sequence[str] = (),
        evidence: Sequence[Location] = (),
        guard: str = "",
        **details: Unpack[Details],
    ) -> int:
        """Adds one hop; returns its id, that of an equal sibling when there is one."""
        identity = (parent, role, symbol, location, details.get("device"))
        number = self._seen.setdefault(identity, len(self.hops))
        if number == len(self.hops):
            said = (number, parent, role, symbol, location, rule, confidence)
            keys, evidence = tuple(keys), tuple(evidence)
            self.hops.append(Hop(*said, keys=keys, evidence=evidence, guard=guard, **details))
        return number

    def add_definition(
        self,
        parent: int | None,
        role: Role,
        found: Definition,
        rule: str,
        confidence: Confidence = "exact",
        *,
        keys: Sequence[str] = (),
        evidence: Sequence[Location] = (),
        **details: Unpack[Details],
    ) -> int:
        """Adds a hop to a definition, with its guard and the macro that makes it."""
        places = [*evidence, *filter(None, (found.macro_location,))]
        what = (parent, role, found.qualified, found.location, rule, confidence)
        return self.add(*what, keys=keys, evidence=places, guard=found.guard, **details)

    def miss(
        self, parent: int | None, role: Role, symbol: str, reason: str, keys: Sequence[str] = ()
    ) -> None:
        """Adds what could not be linked."""
        one = Unresolved(role, symbol, reason, tuple(keys), parent)
        if one not in self.unresolved:
            self.unresolved.append(one)
