"""The answers of the tools: plain objects, from which the protocol's schemas are made."""

from __future__ import annotations

from dataclasses import dataclass, field

from navigator.agents.pages import Page


@dataclass(frozen=True)
class Fact:
    """A line of a card, or a place."""

    label: str
    """``CPU``, ``CUDA``, ``grad``, ``Python`` ... of a card; else the kind of what stands there."""
    text: str
    place: str
    """``path:line`` in the tree; empty for none."""
    note: str = ""


@dataclass(frozen=True)
class Located:
    """What a name means."""

    kind: str
    """``operator``, ``grad_fn``, ``stub``, ``symbol``, ``python``, ``error``, ``variable``,
    ``key``, ``place`` or ``none``."""
    name: str
    """As it was understood."""
    confidence: str
    """``exact``, ``by rule``, ``ambiguous`` (several places); empty where nothing matches."""
    overloads: list[str]
    """Operators that it leads to, best first; the facts are those of the first."""
    signature: str
    facts: Page[Fact]
    note: str = ""
    suggestions: list[str] = field(default_factory=list)
    """Near names, where nothing matches."""
    source: str = ""
    """Which PyTorch the answer is from."""


@dataclass(frozen=True)
class ChainStep:
    """A step of a chain."""

    level: int
    """How deep it stands: it belongs to the last step above it of a lower level."""
    role: str
    symbol: str
    place: str
    device: str
    work: str
    """What it does on the way: computes, chooses, dispatches, checks, allocates, moves, helps."""
    why: str
    """By which rule of PyTorch it follows."""
    when: str
    """Under which conditions it is taken."""
    note: str
    sure: str


@dataclass(frozen=True)
class Way:
    """A way to what computes."""

    device: str
    computes: str
    place: str
    through: str
    when: str
    note: str


@dataclass(frozen=True)
class Chained:
    """What an operator does: the ways to what computes, then each step."""

    op: str
    signature: str
    ways: Page[Way]
    """The usual one of each device first; those that are left out are shown for their key alone.
    On the first page of steps alone."""
    steps: Page[ChainStep]
    unresolved: str
    """What could not be linked, and why."""
    source: str


@dataclass(frozen=True)
class Slot:
    """What runs for dispatch keys, neighbours that run the same together."""

    keys: list[str]
    kernel: str
    kind: str
    why: str
    place: str


@dataclass(frozen=True)
class Dispatched:
    """A dispatch table, the key that is asked first in front."""

    op: str
    slots: Page[Slot]
    unseen: str
    """What may be registered in source that is not at hand."""
    source: str


@dataclass(frozen=True)
class User:
    """Who uses a symbol, or what it calls."""

    name: str
    kind: str
    place: str
    how: str
    sure: str


@dataclass(frozen=True)
class Used:
    """Users, or what is called."""

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
    """``now`` for the few to run first; ``ci``."""


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
