"""The vocabulary of changes: what somebody sets out to do, and the steps of doing it."""

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
    """One change that somebody may make."""

    kind: str
    """That of a gap: ``kernel``, ``batch-rule``, ``docs-signature``."""
    name: str
    """The operator, or the function or path that it is about."""
    title: str
    """One line: what there will be."""
    key: str = ""
    """The dispatch key that a kernel is for."""
    op: str | None = None
    """The overload that it begins with; its in-place and out variants belong to the change."""
    gap: Gap | None = None
    """The gap that it closes, where the tree shows one."""
    wanted: str = ""
    """The id that it was asked by."""
    bare: bool = False
    """Whether it was asked for by a name without its module, which several things may bear."""

    @property
    def id(self) -> str:
        """Its name among all changes of a tree, that of its gap: ``kernel/MPS/gcd``."""
        key = f"{self.key}/" if self.key else ""
        return self.gap.id if self.gap else self.wanted or f"{self.kind}/{key}{self.name}"

    @property
    def why(self) -> str:
        """Why the tree wants it, in one line; empty where nothing in the tree says so."""
        return self.gap.rule if self.gap else ""


@dataclass(frozen=True, slots=True)
class ChangeStep:
    """One thing to do."""

    action: Action
    location: Location
    """Where; with line 0 the file as a whole, which may not be there yet."""
    what: str
    """One sentence: what to do there."""
    code: tuple[str, ...] = ()
    """Lines to copy; for an ``edit`` that is known to the letter a unified diff, which ``git
    apply`` takes."""
    why: str = ""
    """The rule that asks for it."""
    like: Location | None = None
    """The neighbour's place of the same kind."""
    command: str = ""
    """What to run, from the top of the tree."""

    @property
    def touches(self) -> bool:
        """Whether the change edits its file."""
        return self.action in ("edit", "add", "remove")


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """A file of a commit."""

    path: str
    added: int | None
    """Lines; None for a binary file."""
    removed: int | None


@dataclass(frozen=True, slots=True)
class Arrival:
    """A commit by which a neighbour got what the change is about."""

    commit: Commit
    files: tuple[TouchedFile, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The operator or function that is most like the one to change, and has it."""

    name: str
    why: str
    location: Location
    code: tuple[str, ...] = ()
    """Its lines, the first of them where there are many."""
    more: int = 0
    """Lines that are left out."""
    row: Location | None = None
    """The line that git is asked about: its row in a YAML file, where it has one."""
    word: str = ""
    """What the commit that is looked for brought into that file: the name of the kernel."""
    arrivals: tuple[Arrival, ...] = ()
    history_note: str = ""
    """What is missing of the history, and the command that adds it."""


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
    """What a planner gives for a change."""

    steps: tuple[ChangeStep, ...]
    neighbours: tuple[Neighbour, ...] = ()
    tests: tuple[TestRun, ...] = ()
    missing: tuple[str, ...] = ()
    """What the tree cannot tell, each in a line."""
    title: str = ""
    """In place of the change's own."""
    there: Location | None = None
    """Where it already is: the steps are then what a change of it edits, if anything."""


Planner = Callable[["Tree", Change], Parts]
"""Plans the changes of one kind in one tree."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A change with everything that doing it asks for."""

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
    """Places in further files that may have to follow; no step edits them."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the change edits."""
        return tuple(dict.fromkeys(s.location.path for s in self.steps if s.touches))
