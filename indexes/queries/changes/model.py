"""The vocabulary of changes: what to change, and the steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from indexes.model.impact import Tier
from indexes.model.vocabulary import Location, SourceInfo
from indexes.queries.contribution.guides import Command
from indexes.queries.contribution.reviewers import Review
from indexes.queries.contribution.steps import Step
from indexes.queries.gaps.model import Gap
from indexes.queries.gaps.tree import Tree
from indexes.source.git_history import Change as Commit

Action = Literal["edit", "add", "remove", "run", "read"]


@dataclass(frozen=True, slots=True)
class Change:
    """A possible change."""

    kind: str
    """A gap's kind: ``kernel``, ``batch-rule``, ``docs-signature``."""
    name: str
    """The operator, function or path."""
    title: str
    """The result in one line."""
    key: str = ""
    """The dispatch key that a kernel is for."""
    op: str | None = None
    """The first overload; its in-place and out variants belong to the change."""
    gap: Gap | None = None
    """The gap that it closes, if any."""
    bare: bool = False
    """Whether it was requested by a name without module, which may mean several things."""

    @property
    def id(self) -> str:
        """Its id in a tree, that of its gap: ``kernel/MPS/gcd``. A gap of several keys is called by
        the first."""
        key = f"{self.key}/" if self.key else ""
        if self.gap and self.key in ("", *self.gap.keys[:1]):
            return self.gap.id
        return f"{self.kind}/{key}{self.name}"

    @property
    def why(self) -> str:
        """The reason by the tree, in one line; may be empty."""
        return self.gap.rule if self.gap else ""


@dataclass(frozen=True, slots=True)
class ChangeStep:
    """One thing to do."""

    action: Action
    location: Location
    """Line 0 means the whole file, which may not exist yet."""
    what: str
    """What to do there, in one sentence."""
    code: tuple[str, ...] = ()
    """Lines to copy; for an exact ``edit`` a unified diff for ``git apply``."""
    why: str = ""
    """The rule that requires it."""
    like: Location | None = None
    """The model's place of the same kind."""
    command: str = ""
    """What to run, from the top of the tree."""

    @property
    def touches(self) -> bool:
        return self.action in ("edit", "add", "remove")


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """A file of a commit."""

    path: str
    added: int | None
    """The number of lines; None for a binary file."""
    removed: int | None


@dataclass(frozen=True, slots=True)
class Arrival:
    """A commit that gave a model what the change is about."""

    commit: Commit
    files: tuple[TouchedFile, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The most similar operator or function that has what is missing."""

    name: str
    why: str
    location: Location
    code: tuple[str, ...] = ()
    """Its first lines."""
    more: int = 0
    """The number of further lines."""
    row: Location | None = None
    """Its row in a YAML file, if any, for git."""
    word: str = ""
    """What the commit added to that file: the kernel's name."""
    arrivals: tuple[Arrival, ...] = ()
    history_note: str = ""
    """What the history lacks, and the command that adds it."""


@dataclass(frozen=True, slots=True)
class TestRun:
    """A command that runs tests of the change."""

    __test__ = False  # pytest takes classes of this name for tests

    command: str
    path: str
    """The test file."""
    why: str = ""
    tier: Tier = "ci"


@dataclass(frozen=True, slots=True)
class Parts:
    """A planner's result."""

    steps: tuple[ChangeStep, ...]
    neighbours: tuple[Neighbour, ...] = ()
    tests: tuple[TestRun, ...] = ()
    missing: tuple[str, ...] = ()
    """What the tree cannot tell, a line each."""
    title: str = ""
    """Replaces the change's own."""
    there: Location | None = None
    """Where it exists already; the steps are then for changing it."""


Planner = Callable[["Tree", Change], Parts]
"""Plans the changes of one kind in one tree."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A change with everything it requires."""

    source: SourceInfo
    change: Change
    there: Location | None
    neighbours: tuple[Neighbour, ...]
    steps: tuple[ChangeStep, ...]
    tests: tuple[TestRun, ...]
    commands: tuple[Command, ...]
    reviewers: tuple[Review, ...]
    missing: tuple[str, ...]
    related: tuple[Step, ...] = ()
    """Places in further files that may have to follow, without steps."""

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(s.location.path for s in self.steps if s.touches))
