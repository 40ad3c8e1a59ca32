"""The vocabulary of impact: what is reached when something in the tree changes.

A step is reached from its parent, so the way from the change to an operator is the chain
of parents. Nothing here does I/O.
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
    """One thing that is reached, and by which line of the source."""

    id: int
    parent: int | None
    """The step that it is reached from; None for what changes."""
    kind: StepKind
    symbol: str
    location: Location | None
    rule: str
    """By which mechanism its parent reaches it."""
    evidence: Location | None
    """The line that makes it so."""
    confidence: Confidence
    """Of this one step: see ``way_confidence`` for the whole way."""
    candidates: int = 1
    """How many definitions the name could mean on that line."""
    way_confidence: Confidence = "exact"
    """The weakest confidence on the way from the change to here."""
    dispatches: int = 0
    """How many times the way passes through the dispatcher: 0 for an operator's own code."""


@dataclass(frozen=True, slots=True)
class ReachedOperator:
    """An overload that is reached, through the best of the ways."""

    name: str
    aspects: tuple[str, ...]
    """``kernel CPU``, ``backward``, ``decomposition`` ..."""
    step: int
    location: Location | None
    confidence: Confidence
    """The weakest on the way."""
    dispatches: int
    keys: tuple[str, ...] = ()
    """The dispatch keys, or the layouts and devices, with which alone it is reached: ``SparseCsr``;
    empty where it is reached with all that it runs with."""
    composite: bool = False
    """Whether it has no kernel of its own for these keys: it is reached only if it is called with
    tensors of them."""


@dataclass(frozen=True, slots=True)
class ReachedApi:
    """A Python name through which a reached operator is called."""

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
    """How many test functions of the tree the command selects, before they are instantiated
    for devices and dtypes."""
    tier: Tier = "ci"
    """The few commands to run ``now``; the rest is for CI."""


@dataclass(frozen=True, slots=True)
class Folded:
    """Operators that are reached and not listed."""

    what: str
    """Which these are, and why they are not listed."""
    count: int
    how: str
    """How to see them."""


@dataclass(frozen=True, slots=True)
class Impact:
    """What is reached, best known first."""

    source: SourceInfo
    steps: tuple[Step, ...]
    operators: tuple[ReachedOperator, ...]
    apis: tuple[ReachedApi, ...] = ()
    tests: tuple[TestCommand, ...] = ()
    unresolved: tuple[str, ...] = ()
    """What could not be followed, with the reason, a line each."""
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
    """One definition, entry or file that differs between two states of the tree."""

    kind: str
    """``function``, ``macro``, ``operator entry``, ``derivative entry``, ``python``, ``test``,
    ``opinfo``, ``header``, ``generator`` ..."""
    name: str
    what: Literal["added", "changed", "removed"]
    location: Location
    """In the new state; in the old one for what was removed."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A command of the tree's own guides, for what no test covers: documentation."""

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
    """The state that it is compared with: a commit."""
    target: str
    """``the working tree``, ``the staged changes`` or a commit."""
    changes: tuple[Changed, ...]
    quiet: tuple[str, ...]
    """Files that differ in white space and comments alone."""
    impact: Impact
    files: int
    """Files that differ."""
    checks: tuple[Check, ...] = ()
    """Of changed documentation: how it is made and checked."""
