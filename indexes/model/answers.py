"""The vocabulary of answers: what an operator leads to (chains of hops, routes to what computes,
cards, what stands around it), and what names and places in source mean."""

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
    """A place that a route, or a way up to an operator, passes."""

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


# ------------------------------------------------------------------ what stands around

InductorStatus = Literal["lowered", "decomposed", "fallback", "none"]
"""What Inductor does with an operator: its own lowering makes loops of it; a decomposition
replaces it before that; it calls ATen's kernel; nothing is registered, so that it calls ATen's
kernel too, and says so once."""


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A name, and where it is defined."""

    name: str
    location: Location


@dataclass(frozen=True, slots=True)
class Inductor:
    """What torch.compile's backend does with an operator."""

    status: InductorStatus
    location: Location | None = None
    """The lowering, the decomposition, or the line that asks for the fallback."""
    table: str = ""
    """In which table it is entered: ``torch._inductor.decomposition.decompositions``."""
    note: str = ""
    """Under which condition, or through which other overload."""


@dataclass(frozen=True, slots=True)
class CoreAten:
    """Whether an operator is of the core ATen set that export leaves in graphs."""

    member: bool
    text: str
    """In words: ``yes``, ``no, decomposes``."""
    location: Location | None = None
    """The tag, or the decomposition that export uses."""


@dataclass(frozen=True, slots=True)
class Decomposed:
    """A decomposition, and the tables by name that hold it."""

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
    """Several places of a kind: how many, and the first."""

    count: int = 0
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class TestCount:
    """The tests that are named for an operator and call it, those made from OpInfos apart."""

    files: int = 0
    tests: int = 0
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around an operator, best first in each."""

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
class ReachingPath:
    """How an operator reaches a place."""

    op: str
    side: str
    """``kernel``, ``meta`` or ``backward``."""
    devices: tuple[str, ...]
    """For which it does; empty where it does for every one."""
    via: tuple[Way, ...]
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
    ways: tuple[ReachingPath, ...] = ()
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
    phases: tuple[str, ...]
    """The phases of a backward pass that it belongs to, in their order; ``outside`` for what only
    code outside of the engine calls."""
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
