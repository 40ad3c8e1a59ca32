"""The vocabulary of what names and places in source mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexes.model.vocabulary import Confidence, Definition, Location


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result."""

    kind: str
    """``operator``, ``kernel``, ``function``, ``class``, ``macro``, ``stub``, ``grad_fn`` ..."""
    name: str
    location: Location
    detail: str = ""
    op: str | None = None
    """The overload to open a chain for, when there is one."""


@dataclass(frozen=True, slots=True)
class Callee:
    """One thing that a line calls, passes on, launches or dispatches to."""

    kind: str
    """``call``, ``stub``, ``operator``, ``launch``, ``library``, ``loop``, ``unknown`` ..."""
    name: str
    location: Location | None
    """Where it is defined or, for an operator, its entry."""
    rule: str
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Waypoint:
    """A place that a way leads through."""

    symbol: str
    location: Location


@dataclass(frozen=True, slots=True)
class ReachingWay:
    """How an operator reaches a place."""

    op: str
    side: str
    """``kernel``, ``meta`` or ``backward``."""
    devices: tuple[str, ...]
    """For which it does; empty where it does for every one."""
    via: tuple[Waypoint, ...]
    """What stands between the operator and the place, from the operator down."""


@dataclass(frozen=True, slots=True)
class Place:
    """What stands at a ``file:line``: an answer of ``torchnav at``."""

    kind: str
    """``operator``, ``derivative``, ``formula``, ``kernel``, ``stub``, ``registration``,
    ``function``, ``member``, ``macro``, ``engine`` ..."""
    name: str
    location: Location
    detail: str = ""
    operators: tuple[str, ...] = ()
    """Operators (overloads) that reach this place."""
    rule: str = ""
    calls: tuple[Callee, ...] = ()
    """What the very line calls."""
    ways: tuple[ReachingWay, ...] = ()
    """How the operators reach it, the nearest first."""


MatchKind = Literal[
    "operator", "grad_fn", "stub", "symbol", "python", "error", "variable", "key", "place", "none"
]
"""An operator, a Node class, a dispatch stub, a C++ symbol, a Python name, a message of an error,
a variable of public interest, a dispatch key, a line of a file, or nothing."""


@dataclass(frozen=True, slots=True)
class NameMatch:
    """What a pasted name means in this index."""

    kind: MatchKind
    """The world that it is of."""
    text: str
    """The name as understood: ``add.Tensor``, ``AddmmBackward0``, ``at::native::add_kernel``."""
    overloads: tuple[str, ...] = ()
    """Operators it leads to, best first; several for a bare ``add``."""
    hits: tuple[Hit, ...] = ()
    """Places it names, the definition first."""
    note: str = ""
    suggestions: tuple[str, ...] = ()
    """Near names, when nothing matches."""
    namesakes: tuple[Hit, ...] = ()
    """C++ definitions with the same last part, which it does not mean: when nothing matches, or
    what does is Python's."""
    confidence: Confidence | None = "exact"
    """``by rule`` for a name that torchgen or Python's data model makes of an operator's,
    ``ambiguous`` for several places; None when nothing matches."""


@dataclass(frozen=True, slots=True)
class Member:
    """A data member of a class: ``version_counter_`` of ``TensorImpl``."""

    name: str
    type: str
    comment: str
    location: Location
    accessors: tuple[Location, ...] = ()
    accessor_names: tuple[str, ...] = ()
    bits: int | None = None
    """Width of a bit field."""


@dataclass(frozen=True, slots=True)
class EngineFunction:
    """A function of the autograd engine."""

    name: str
    """Qualified inside ``torch::autograd``: ``Engine::evaluate_function``."""
    location: Location
    calls: tuple[tuple[str, int], ...]
    """(callee, line) for callees that are engine functions too."""
    phase: str
    """The phase of a backward pass it belongs to, or empty."""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class DeviceKernelAnswer:
    """Where a device kernel's name, as a profiler prints it, comes from."""

    name: str
    launcher: Definition | None
    source: Definition | None
    library: str | None
    confidence: Confidence
    rule: str
    reason: str = ""
    candidates: tuple[Definition, ...] = ()
