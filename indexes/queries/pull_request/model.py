"""The vocabulary of a pull request draft."""

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
    """Without lines of PyTorch's merge tools."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file of the change."""

    path: str
    what: Literal["added", "changed", "removed"]
    added: int
    """The number of lines; 0 for a binary file."""
    removed: int


@dataclass(frozen=True, slots=True)
class Title:
    """The title, as far as known from commits and history."""

    prefix: str
    """``[MPS]``, by the files' history; may be empty."""
    text: str
    """Without the prefix; empty if no commit has one: to be filled in."""
    why: str
    """The source of both."""


@dataclass(frozen=True, slots=True)
class Template:
    """The tree's pull request template."""

    location: Location
    lines: tuple[str, ...]
    others: tuple[str, ...] = ()
    """Further templates."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that was run, with its result as reported."""

    command: str
    result: str


@dataclass(frozen=True, slots=True)
class Label:
    """A label of the pull request."""

    kind: LabelKind
    name: str
    location: Location
    """The rule."""
    why: str
    by_itself: bool
    """Whether a bot sets it; otherwise a proposal."""


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue that the change names."""

    number: int
    way: IssueWay
    """``no longer named``: lines with it were removed, so it may be fixed."""
    location: Location | None
    """In the old text for a removed line; None for a commit."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """A CI workflow for the change."""

    name: str
    location: Location
    when: str
    """``on every pull request``, ``with the label ciflow/mps``."""
    jobs: int
    label: str = ""
    """The label that starts it; empty if the pull request does."""


@dataclass(frozen=True, slots=True)
class PullStep:
    """A step around the pull request."""

    what: str
    location: Location | None
    """The tree's line for it; None for git's own steps."""
    command: str = ""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The draft with everything around it."""

    source: SourceInfo
    base: str
    """The base in words."""
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
    """The tree's topics, to choose from."""
    reviewers: tuple[Review, ...]
    issues: tuple[Issue, ...]
    workflows: tuple[Workflow, ...]
    steps: tuple[PullStep, ...]
    missing: tuple[str, ...]

    @property
    def fixes(self) -> tuple[int, ...]:
        return tuple(one.number for one in self.issues if one.way == "named in a commit")

    @property
    def may_fix(self) -> tuple[int, ...]:
        return tuple(one.number for one in self.issues if one.way == "no longer named")
