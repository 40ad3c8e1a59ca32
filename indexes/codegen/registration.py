"""What is registered with the dispatcher: one kernel for one operator under one key."""

from __future__ import annotations

from dataclasses import dataclass

from indexes.model.vocabulary import Location


@dataclass(frozen=True, slots=True)
class Registration:
    """A kernel that is registered for an operator under a key."""

    op: str
    """Empty for a backend fallback, which serves every operator."""
    key: str
    kernel: str
    origin: str
    """What registers it: a file of the tree, or the generator and what it generates."""
    rule: str = ""
    fallthrough: bool = False
    location: Location | None = None
    condition: str = ""
    """What a build must have for it to be there; empty for what every build has."""
