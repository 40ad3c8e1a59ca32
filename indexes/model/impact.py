"""The vocabulary of impact: what a change of the tree reaches.

A step is reached from its parent, so the path from the change to an operator is the chain of
parents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexes.model.vocabulary import Confidence, Location, SourceInfo

Tier = Literal["now", "ci"]
StepKind = Literal[
    "function",
    "macro",
    "class",
    "global",
    "stub",
    "formula",
    "operator",
    "python",
    "test",
    "file",
    "generated",
]


@dataclass(frozen=True, slots=True)
class Step:
    """Something reached, with the line of source that leads to it."""

    id: int
    parent: int | None
    """The step before; None for what changes."""
    kind: StepKind
    symbol: str
    location: Location | None
    rule: str
    """How its parent reaches it."""
    evidence: Location | None
    """The line that shows it."""
    confidence: Confidence
    """Of this step; ``way_confidence`` is that of the whole path."""
    candidates: int = 1
    """The number of definitions that the name could mean on that line."""
    way_confidence: Confidence = "exact"
    """The weakest confidence on the path."""
    dispatches: int = 0
    """The number of dispatcher calls on the path: 0 for an operator's own code."""


@dataclass(frozen=True, slots=True)
class ReachedOperator:
    """An overload that is reached, by its best path."""

    name: str
    aspects: tuple[str, ...]
    """``kernel CPU``, ``backward``, ``decomposition`` ..."""
    step: int
    location: Location | None
    confidence: Confidence
    """The weakest on the path."""
    dispatches: int
    keys: tuple[str, ...] = ()
    """The only dispatch keys, or layouts and devices, with which it is reached: ``SparseCsr``;
    empty for all that it runs with."""
    composite: bool = False
    """Whether it has no kernel of its own for these keys, so that it depends on its tensors."""


@dataclass(frozen=True, slots=True)
class ReachedApi:
    """A Python name that calls a reached operator."""

    name: str
    location: Location | None
    rule: str
    operators: tuple[str, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class TestCommand:
    """Tests to run, as one command."""

    command: str
    path: str
    reason: str
    operators: tuple[str, ...]
    confidence: Confidence
    tests: int
    """The number of selected test functions, before instantiation for devices and dtypes."""
    tier: Tier = "ci"
    """``now`` for the few to run now; the rest is for CI."""


@dataclass(frozen=True, slots=True)
class Folded:
    """Operators that are reached but not listed."""

    what: str
    """Which, and why they are not listed."""
    count: int
    how: str
    """How to see them."""


@dataclass(frozen=True, slots=True)
class Impact:
    """What is reached, surest first."""

    source: SourceInfo
    steps: tuple[Step, ...]
    operators: tuple[ReachedOperator, ...]
    apis: tuple[ReachedApi, ...] = ()
    tests: tuple[TestCommand, ...] = ()
    unresolved: tuple[str, ...] = ()
    """What could not be followed, with reasons, a line each."""
    folded: tuple[Folded, ...] = ()

    def way(self, step: int) -> tuple[Step, ...]:
        """The steps from the change to ``step``."""
        found: list[Step] = []
        at: int | None = step
        while at is not None:
            found.append(self.steps[at])
            at = self.steps[at].parent
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class Changed:
    """A definition, entry or file that differs between two states of the tree."""

    kind: str
    """``function``, ``macro``, ``operator entry``, ``derivative entry``, ``python``, ``test``,
    ``opinfo``, ``header``, ``generator`` ..."""
    name: str
    what: Literal["added", "changed", "removed"]
    location: Location
    """In the new state; for a removed one in the old."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A command from the tree's guides for what no test covers: documentation."""

    purpose: str
    """``docs``, ``lint`` ..."""
    command: str
    location: Location
    """The line of the guide."""
    note: str


@dataclass(frozen=True, slots=True)
class Affected:
    """What a change of the tree affects."""

    base: str
    """The commit that it is compared with."""
    target: str
    """``the working tree``, ``the staged changes`` or a commit."""
    changes: tuple[Changed, ...]
    quiet: tuple[str, ...]
    """Files that differ only in white space and comments."""
    impact: Impact
    files: int
    """The number of files that differ."""
    checks: tuple[Check, ...] = ()
    """Commands for building and checking changed documentation."""
