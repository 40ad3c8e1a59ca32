"""The vocabulary of dispatch tables: an operator's slots, each with the reason why it holds
what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from indexes.model.vocabulary import Confidence, Location, SourceInfo


@dataclass(frozen=True, slots=True)
class DispatchSlot:
    """What an operator runs for one runtime dispatch key, or registers under an alias key."""

    key: str
    kernel: str
    """Empty when there is none."""
    kind: str
    """Why it won, in the dispatcher's own words: ``kernel``, ``math kernel`` ..."""
    origin: str
    """What registers it: a file of the tree, or a generator of torchgen and what it makes."""
    rule: str
    confidence: Confidence
    fallthrough: bool = False
    """The call passes on to the next key."""
    registration: Location | None = None
    """The line that registers it or makes torchgen do so."""
    definition: Location | None = None
    """Where its kernel is defined, as far as that is written out."""
    evidence: tuple[Location, ...] = ()
    guard: str = ""


@dataclass(frozen=True, slots=True)
class DispatchTable:
    """The computed dispatch table of one operator."""

    source: SourceInfo
    op: str
    slots: tuple[DispatchSlot, ...]
    """One for each runtime key, in order of priority, lowest first."""
    registrations: tuple[DispatchSlot, ...]
    """All that is registered for the operator, alias keys too."""
    precedence: Location | None = None
    """Where this tree's dispatcher decides between them."""

    unseen: str = ""
    """What may be registered too, in source that is not at hand, with the command that adds it."""

    def groups(self) -> list[tuple[DispatchSlot, ...]]:
        """The slots that hold something; neighbours that run the same for the same reason
        stand together."""
        filled = [slot for slot in self.slots if slot.kind != "missing"]
        return [tuple(group) for _, group in groupby(filled, key=_same)]


def _same(slot: DispatchSlot) -> tuple[object, ...]:
    return slot.kernel, slot.kind, slot.fallthrough, slot.registration
