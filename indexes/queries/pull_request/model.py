"""The draft of a pull request, and what is to be done around it, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexes.model.impact import Affected, TestCommand
from indexes.model.vocabulary import Location, SourceInfo
from indexes.queries.contribution.guides import Command
from indexes.queries.contribution.reviewers import Review

LabelKind = Literal["module", "ci", "release notes", "topic", "other"]
IssueWay = Literal["named in a commit", "no longer named", "named"]


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the branch."""

    commit: str
    subject: str
    body: tuple[str, ...]
    """Its lines, without those that PyTorch's merge tools add."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file of the change."""

    path: str
    what: Literal["added", "changed", "removed"]
    added: int
    """Lines; 0 for a file that is no text."""
    removed: int


@dataclass(frozen=True, slots=True)
class Title:
    """The title, as far as commits and history say it."""

    prefix: str
    """``[MPS]``, as the history of these files has it; empty where it has none."""
    text: str
    """Without the prefix; empty where no commit says it: it is to be filled in."""
    why: str
    """Where both are from."""


@dataclass(frozen=True, slots=True)
class Template:
    """The tree's own form of a pull request."""

    location: Location
    lines: tuple[str, ...]
    others: tuple[str, ...] = ()
    """Further forms to choose from."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that was run, and what came of it, in the words of who ran it."""

    command: str
    result: str


@dataclass(frozen=True, slots=True)
class Label:
    """A label that the pull request gets, or is to be given."""

    kind: LabelKind
    name: str
    location: Location
    """The rule of the tree."""
    why: str
    by_itself: bool
    """Whether a bot sets it; one that is chosen here is a proposal."""


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue that the change names."""

    number: int
    way: IssueWay
    """``no longer named``: lines of the tree that named it are gone, so it may be fixed."""
    location: Location | None
    """In the old text for what is gone; None for a commit."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """What CI runs for the change."""

    name: str
    location: Location
    when: str
    """``on every pull request``, ``with the label ciflow/mps``."""
    jobs: int
    label: str = ""
    """The label that starts it; empty where the pull request alone does."""


@dataclass(frozen=True, slots=True)
class PullStep:
    """Something to do around the pull request."""

    what: str
    location: Location | None
    """The line of the tree that says so; None for what is git's own."""
    command: str = ""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The draft with everything around it."""

    source: SourceInfo
    base: str
    """What the change is compared with, in words."""
    base_commit: str
    branch: str
    """Empty on a detached head."""
    title: Title
    commits: tuple[Commit, ...]
    files: tuple[ChangedFile, ...]
    template: Template | None
    affected: Affected
    tests: tuple[TestCommand, ...]
    """The few to run now."""
    more_tests: int
    """The rest, which CI runs."""
    ran: tuple[Ran, ...]
    commands: tuple[Command, ...]
    labels: tuple[Label, ...]
    topics: tuple[str, ...]
    """Those that the tree has, to choose from."""
    reviewers: tuple[Review, ...]
    issues: tuple[Issue, ...]
    workflows: tuple[Workflow, ...]
    steps: tuple[PullStep, ...]
    missing: tuple[str, ...]

    @property
    def fixes(self) -> tuple[int, ...]:
        """The issues that commits say it fixes."""
        return tuple(one.number for one in self.issues if one.way == "named in a commit")

    @property
    def may_fix(self) -> tuple[int, ...]:
        """The issues that lines named which are gone."""
        return tuple(one.number for one in self.issues if one.way == "no longer named")
