"""The answers of the tools: plain objects, from which the protocol's schemas are made."""

from __future__ import annotations

from dataclasses import dataclass, field

from navigator.agents.pages import Page


@dataclass(frozen=True)
class Fact:
    """A line of a card, or a place in source."""

    label: str
    """The label of a card line (``CPU``, ``grad``, ``Python`` ...), else the kind of symbol."""
    text: str
    place: str
    """``path:line`` in the tree, or empty."""
    note: str = ""


@dataclass(frozen=True)
class Located:
    """What a name means."""

    kind: str
    """``operator``, ``grad_fn``, ``stub``, ``symbol``, ``python``, ``error``, ``variable``,
    ``key``, ``place`` or ``none``."""
    name: str
    """The name as it was understood."""
    confidence: str
    """``exact``, ``by rule``, ``ambiguous`` (several places); empty if nothing matches."""
    overloads: list[str]
    """Operators that the name leads to, best first; the facts describe the first one."""
    signature: str
    facts: Page[Fact]
    note: str = ""
    suggestions: list[str] = field(default_factory=list)
    """Similar names, if nothing matches."""
    source: str = ""
    """The version of PyTorch that the answer describes."""


@dataclass(frozen=True)
class ChainStep:
    """A step of a chain."""

    level: int
    """Depth in the tree: the parent is the last step above with a lower level."""
    role: str
    symbol: str
    place: str
    device: str
    work: str
    """What the step does: computes, chooses, dispatches, checks, allocates, moves, helps."""
    why: str
    """The rule of PyTorch that leads to this step."""
    when: str
    """The conditions under which it runs."""
    note: str
    sure: str


@dataclass(frozen=True)
class Way:
    """A route from the operator to a function that computes."""

    device: str
    computes: str
    place: str
    through: str
    when: str
    note: str


@dataclass(frozen=True)
class Chained:
    """What an operator does: its routes, then each step."""

    op: str
    signature: str
    ways: Page[Way]
    """The usual route of each device first; only on the first page."""
    steps: Page[ChainStep]
    unresolved: str
    """What could not be resolved, and why."""
    source: str


@dataclass(frozen=True)
class Slot:
    """The kernel of one or more neighbouring dispatch keys."""

    keys: list[str]
    kernel: str
    kind: str
    why: str
    place: str


@dataclass(frozen=True)
class Dispatched:
    """A dispatch table, highest priority first."""

    op: str
    slots: Page[Slot]
    unseen: str
    """What may be registered in source that is not available."""
    source: str


@dataclass(frozen=True)
class User:
    """A caller of a symbol, or something that it calls."""

    name: str
    kind: str
    place: str
    how: str
    sure: str


@dataclass(frozen=True)
class Used:
    """Callers, or callees."""

    symbol: str
    users: Page[User]
    note: str
    source: str


@dataclass(frozen=True)
class Test:
    """Tests to run, as one command."""

    command: str
    path: str
    why: str
    when: str
    """``now`` for the few tests to run first; ``ci`` for the others."""


@dataclass(frozen=True)
class Tested:
    """The tests of a symbol, or of a change."""

    of: str
    tests: Page[Test]
    note: str
    source: str


@dataclass(frozen=True)
class Traced:
    """Lines about a trace."""

    file: str
    lines: Page[str]
