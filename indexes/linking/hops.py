"""Collects the hops of a chain in display order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
        confidence: Confidence,
        *,
        device: str | None = None,
        keys: Sequence[str] = (),
        evidence: Sequence[Location] = (),
        guard: str = "",
        note: str = "",
        dtypes: tuple[DtypeDispatch, ...] = (),
        choices: tuple[Choice, ...] = (),
    ) -> int:
        """Adds one hop; returns its id, that of an equal sibling when there is one."""
        identity = (parent, role, symbol, location, device)
        if identity in self._seen:
            return self._seen[identity]
        number = len(self.hops)
        self._seen[identity] = number
        self.hops.append(
            Hop(
                number,
                parent,
                role,
                symbol,
                location,
                rule,
                confidence,
                device,
                tuple(keys),
                tuple(evidence),
                guard,
                note,
                dtypes,
                choices,
            )
        )
        return number

    def add_definition(
        self,
        parent: int | None,
        role: Role,
        definition: Definition,
        rule: str,
        confidence: Confidence,
        *,
        device: str | None = None,
        keys: Sequence[str] = (),
        evidence: Sequence[Location] = (),
        note: str = "",
        dtypes: tuple[DtypeDispatch, ...] = (),
        choices: tuple[Choice, ...] = (),
    ) -> int:
        """Adds a hop to a definition, with its guard and the macro that makes it."""
        places = list(evidence)
        if definition.macro_location:
            places.append(definition.macro_location)
        return self.add(
            parent,
            role,
            definition.qualified,
            definition.location,
            rule,
            confidence,
            device=device,
            keys=keys,
            evidence=places,
            guard=definition.guard,
            note=note,
            dtypes=dtypes,
            choices=choices,
        )

    def take(self, others: HopList, root: int) -> None:
        """Adds the hops of another list, of which the first stands for ``root``."""
        moved: dict[int | None, int | None] = {None: None, 0: root}
        for hop in others.hops[1:]:
            moved[hop.id] = len(self.hops)
            self.hops.append(replace(hop, id=len(self.hops), parent=moved[hop.parent]))
        self.unresolved += [replace(one, parent=moved[one.parent]) for one in others.unresolved]

    def miss(
        self, parent: int | None, role: Role, symbol: str, reason: str, keys: Sequence[str] = ()
    ) -> None:
        """Adds what could not be linked."""
        one = Unresolved(role, symbol, reason, tuple(keys), parent)
        if one not in self.unresolved:
            self.unresolved.append(one)
