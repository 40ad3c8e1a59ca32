"""The vocabulary of what an operator leads to: chains of hops, routes to what computes, cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from indexes.model.vocabulary import (
    Choice,
    Confidence,
    DerivativeEntry,
    DtypeDispatch,
    Location,
    NativeFunction,
    OperatorSummary,
    Problem,
    Role,
    SourceInfo,
    Work,
)


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a chain: a place in source, why it is there, and how sure that is."""

    id: int
    parent: int | None
    role: Role
    symbol: str
    location: Location | None
    rule: str
    """One line: by which mechanism of PyTorch this follows."""
    confidence: Confidence
    device: str | None = None
    """``CPU``, ``CUDA``, ``MPS`` ... when the hop is for one kind of device."""
    keys: tuple[str, ...] = ()
    evidence: tuple[Location, ...] = ()
    guard: str = ""
    note: str = ""
    """The formula's text, the library, what a call can mean ..."""
    dtypes: tuple[DtypeDispatch, ...] = ()
    """What a function switches over dtypes by, in the order of its text."""
    choices: tuple[Choice, ...] = ()
    """The conditions under which the step is taken, outermost first."""
    work: Work | None = None
    """What it does on the way to computing; None for what stands beside the way."""
    folded: Mapping[Work, int] = field(default_factory=dict)
    """How many steps of each work are not listed below it."""
    continues: str = ""
    """The command that shows what is not listed below it: ``torchnav op addmm``."""
    again: int | None = None
    """The hop that shows what is below it, where it is not the first of its place."""


RouteKind = Literal["loop", "launch", "library", "graph", "metal", "none"]
"""How the function at the end of a route computes; ``none`` for an operator that computes
nothing, as a view."""


@dataclass(frozen=True, slots=True)
class Way:
    """A place that a route passes."""

    symbol: str
    location: Location


@dataclass(frozen=True, slots=True)
class Route:
    """One way from an operator to what computes it on a device."""

    device: str
    kind: RouteKind
    symbol: str
    """The function that computes."""
    location: Location
    via: tuple[Way, ...]
    """What it passes from the operator on, the operator first."""
    conditions: tuple[str, ...] = ()
    """When it is taken, in words; nothing of what holds for dense tensors in any build."""
    confidence: Confidence = "exact"
    note: str = ""
    """The vendor's function that it calls, the ``__global__`` function that is launched for it, or
    why there is nothing that computes."""
    hop: int | None = None
    """Its hop in the chain of the same answer."""

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the way behind its operator, each once; the last is what computes."""
        names = [short_name(one.symbol) for one in self.via[1:]]
        end = short_name(self.symbol)
        return (*(name for name in dict.fromkeys(names) if name != end), end)


def short_name(symbol: str) -> str:
    """A function by its last name, or by that of its class where any class has one so named."""
    scope, _, name = symbol.rpartition("::")
    owner = scope.rpartition("::")[2]
    if name in ("operator()", "apply"):
        return owner
    return f"{owner}::{name}" if owner == "ufunc" else name


@dataclass(frozen=True, slots=True)
class CardLine:
    """A line of a card: what, where, and what opens there."""

    label: str
    """``CPU``, ``grad``, ``Python``, ``Inductor``, ``tests`` ..."""
    text: str
    """Steps of a way stand between `` > ``; its end is what computes."""
    location: Location | None = None
    note: str = ""
    opens: str = ""
    """The command that shows more of it."""
    key: str = ""
    """The digit that opens it on screen: 1 CPU, 2 CUDA, 3 MPS, 4 gradient, 5 Python, 6 tests."""


@dataclass(frozen=True, slots=True)
class Card:
    """An operator in a few lines: what computes it on each device, and what stands around it."""

    schema: str
    kind: str
    """``composite, differentiable``."""
    location: Location
    lines: tuple[CardLine, ...]


@dataclass(frozen=True, slots=True)
class Unresolved:
    """What could not be linked, with the true reason."""

    role: Role
    symbol: str
    reason: str
    keys: tuple[str, ...] = ()
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """Everything one overload leads to, in display order (parents before children)."""

    source: SourceInfo
    op: OperatorSummary
    native: NativeFunction
    derivative: DerivativeEntry | None
    hops: tuple[Hop, ...]
    unresolved: tuple[Unresolved, ...]
    problems: tuple[Problem, ...] = ()
    """What torchgen refuses, or is not understood here, in the YAML that the operator rests on."""
