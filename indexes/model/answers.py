"""The vocabulary of answers: what an operator leads to (chains, routes, cards), and what names and
places mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from indexes.model.vocabulary import (
    Choice,
    Confidence,
    Definition,
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
    """``CPU``, ``CUDA``, ``MPS`` ... for a hop on one kind of device."""
    keys: tuple[str, ...] = ()
    evidence: tuple[Location, ...] = ()
    guard: str = ""
    note: str = ""
    """The formula's text, the library, what a call can mean ..."""
    dtypes: tuple[DtypeDispatch, ...] = ()
    """The dtype dispatches of a function, in source order."""
    choices: tuple[Choice, ...] = ()
    """The conditions of the step, outermost first."""
    work: Work | None = None
    """What it does on the way to computing; None beside that way."""
    folded: Mapping[Work, int] = field(default_factory=dict)
    """The number of steps of each work not listed below it."""
    continues: str = ""
    """The command that shows what is not listed below it: ``torchnav op addmm``."""
    again: int | None = None
    """The hop that has the steps below it, if it is not the first of its place."""


RouteKind = Literal["loop", "launch", "library", "graph", "metal", "none"]
"""How the function at the end of a route computes; ``none`` for an operator that computes nothing,
as a view."""


@dataclass(frozen=True, slots=True)
class Way:
    """A place on a route, or on a path up to an operator."""

    symbol: str
    location: Location


@dataclass(frozen=True, slots=True)
class Route:
    """A path from an operator to what computes it on a device."""

    device: str
    kind: RouteKind
    symbol: str
    """The function that computes."""
    location: Location
    via: tuple[Way, ...]
    """The places passed, the operator first."""
    conditions: tuple[str, ...] = ()
    """When it is taken, in words, apart from what holds for dense tensors in any build."""
    confidence: Confidence = "exact"
    note: str = ""
    """The library's function that it calls, the ``__global__`` function launched for it, or why
    nothing computes."""
    hop: int | None = None
    """Its hop in the chain of the same answer."""
    beside: bool = False
    """Whether it runs too where the first route of its device does, as one of several steps."""

    @property
    def steps(self) -> tuple[str, ...]:
        """The distinct names behind the operator; the last one computes."""
        names = [short_name(one.symbol) for one in self.via[1:]]
        end = short_name(self.symbol)
        return (*(name for name in dict.fromkeys(names) if name != end), end)


def short_name(symbol: str) -> str:
    """A function's last name, with its class if many classes have one so named."""
    scope, _, name = symbol.rpartition("::")
    owner = scope.rpartition("::")[2]
    if name in ("operator()", "apply"):
        return owner
    return f"{owner}::{name}" if owner == "ufunc" else name


@dataclass(frozen=True, slots=True)
class CardLine:
    """A line of a card, with a place and a command."""

    label: str
    """``CPU``, ``grad``, ``Python``, ``Inductor``, ``tests`` ..."""
    text: str
    """Steps of a path are separated by `` > ``; the last one computes."""
    location: Location | None = None
    note: str = ""
    opens: str = ""
    """The command that shows more of it."""
    key: str = ""
    """The digit that opens it on screen: 1 CPU, 2 CUDA, 3 MPS, 4 gradient, 5 Python, 6 tests."""


@dataclass(frozen=True, slots=True)
class Card:
    """A summary of an operator: what computes it on each device, and what relates to it."""

    schema: str
    kind: str
    """``composite, differentiable``."""
    location: Location
    lines: tuple[CardLine, ...]


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Something that could not be linked, with the reason."""

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
    """What torchgen refuses, or torchnav does not know, in the operator's YAML."""


# ------------------------------------------------------------------ what stands around

InductorStatus = Literal["lowered", "decomposed", "fallback", "none"]
"""Inductor's own lowering makes loops; a decomposition replaces the operator before; a fallback
calls ATen's kernel; without a registration it also calls ATen's kernel, with a warning."""


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A name with its definition."""

    name: str
    location: Location


@dataclass(frozen=True, slots=True)
class Inductor:
    """What torch.compile's backend does with an operator."""

    status: InductorStatus
    location: Location | None = None
    """The lowering, the decomposition, or the line of the fallback."""
    table: str = ""
    """The table with its entry: ``torch._inductor.decomposition.decompositions``."""
    note: str = ""
    """The condition, or the other overload through which it follows."""


@dataclass(frozen=True, slots=True)
class CoreAten:
    """Whether an operator is in the core ATen set that export leaves in graphs."""

    member: bool
    text: str
    """In words: ``yes``, ``no, decomposes``."""
    location: Location | None = None
    """The tag, or the decomposition that export uses."""


@dataclass(frozen=True, slots=True)
class Decomposed:
    """A decomposition, and the tables that contain it."""

    name: str
    location: Location
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AutocastPolicy:
    """What autocast does to an operator's inputs on a device."""

    device: str
    policy: str
    location: Location


@dataclass(frozen=True, slots=True)
class Counted:
    """Several places of a kind: their number, and the first."""

    count: int = 0
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class TestCount:
    """The tests named for an operator that call it, and separately those made from OpInfos."""

    files: int = 0
    tests: int = 0
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What relates to an operator, best first in each list."""

    python: tuple[NamedPlace, ...]
    """Public functions, those of torch.nn.functional, then modules of torch.nn."""
    inductor: Inductor
    core: CoreAten
    decompositions: tuple[Decomposed, ...] = ()
    meta: tuple[NamedPlace, ...] = ()
    """Meta and fake kernels in Python."""
    autocast: tuple[AutocastPolicy, ...] = ()
    batch_rule: NamedPlace | None = None
    docs: Counted = Counted()
    opinfo: tuple[NamedPlace, ...] = ()
    tests: TestCount = TestCount()


# -------------------------------------------------- what names and places mean


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result."""

    kind: str
    """``operator``, ``kernel``, ``function``, ``class``, ``macro``, ``stub``, ``grad_fn`` ..."""
    name: str
    location: Location
    detail: str = ""
    op: str | None = None
    """The overload whose chain to open, if any."""


@dataclass(frozen=True, slots=True)
class Callee:
    """Something that a line calls, passes on, launches or dispatches to."""

    kind: str
    """``call``, ``stub``, ``operator``, ``launch``, ``library``, ``loop``, ``unknown`` ..."""
    name: str
    location: Location | None
    """Its definition or, for an operator, its entry."""
    rule: str
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class ReachingPath:
    """How an operator reaches a place."""

    op: str
    side: str
    """``kernel``, ``meta`` or ``backward``."""
    devices: tuple[str, ...]
    """Empty for all devices."""
    via: tuple[Way, ...]
    """The places between the operator and the place, from the operator down."""


@dataclass(frozen=True, slots=True)
class Place:
    """What stands at a ``file:line``: an answer of ``torchnav at``."""

    kind: str
    """``operator``, ``derivative``, ``formula``, ``kernel``, ``stub``, ``registration``,
    ``function``, ``member``, ``macro``, ``note``, ``engine`` ..."""
    name: str
    location: Location
    detail: str = ""
    operators: tuple[str, ...] = ()
    """Overloads that reach this place."""
    rule: str = ""
    calls: tuple[Callee, ...] = ()
    """The calls on the line itself."""
    ways: tuple[ReachingPath, ...] = ()
    """The paths of the operators, nearest first."""


MatchKind = Literal[
    "operator",
    "grad_fn",
    "stub",
    "symbol",
    "python",
    "error",
    "variable",
    "key",
    "note",
    "place",
    "none",
]
"""An operator, a Node class, a dispatch stub, a C++ symbol, a Python name, an error message, a
public variable, a dispatch key, a titled comment, a line of a file, or nothing."""


@dataclass(frozen=True, slots=True)
class NameMatch:
    """What a pasted name means in this index."""

    kind: MatchKind
    """What kind of name it is."""
    text: str
    """The name as understood: ``add.Tensor``, ``AddmmBackward0``, ``at::native::add_kernel``."""
    overloads: tuple[str, ...] = ()
    """Its operators, best first; several for a bare ``add``."""
    hits: tuple[Hit, ...] = ()
    """Its places, the definition first."""
    note: str = ""
    suggestions: tuple[str, ...] = ()
    """Similar names, if nothing matches."""
    namesakes: tuple[Hit, ...] = ()
    """C++ definitions with the same last part, if nothing or only a Python name matches."""
    confidence: Confidence | None = "exact"
    """``by rule`` for a name derived from an operator's by torchgen or Python's data model,
    ``ambiguous`` for several places; None if nothing matches."""


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
    phases: tuple[str, ...]
    """The phases of a backward pass that it belongs to, in order; ``outside`` for functions called
    only from outside the engine."""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class DeviceKernelAnswer:
    """The source of a device kernel's name from a profiler."""

    name: str
    launcher: Definition | None
    source: Definition | None
    library: str | None
    confidence: Confidence
    rule: str
    reason: str = ""
    candidates: tuple[Definition, ...] = ()
