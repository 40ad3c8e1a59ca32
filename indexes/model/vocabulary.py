"""The vocabulary of torchnav: what readers find in source and what queries answer.

Every entity is a frozen dataclass and says where it stands. Paths are relative to
the root of the source tree, with forward slashes; lines count from 1; an
``end_line`` of 0 means "not known". Nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

SCHEMA_VERSION = 1

Confidence = Literal["exact", "by rule", "ambiguous"]
"""``exact``: the source says so. ``by rule``: follows from codegen or macro rules,
which ``rule`` names. ``ambiguous``: one of several candidates, all of them given."""

Role = Literal[
    "python",
    "schema",
    "delegate",
    "meta",
    "kernel",
    "call",
    "stub",
    "registration",
    "device_kernel",
    "launch",
    "library",
    "derivative",
    "formula_function",
    "decomposition",
    "meta_registration",
    "ref",
    "batch_rule",
    "autocast",
    "docs",
    "opinfo",
    "test",
    "owner",
    "generated",
]

Work = Literal["computes", "chooses", "dispatches", "checks", "allocates", "moves", "helps"]
"""What a step does: ``computes`` is a loop over elements, a launch, a vendor's function; the
others lead to it, or stand beside the way."""

KernelKind = Literal["plain", "structured", "macro", "ufunc", "composite", "generated", "missing"]
SourceKind = Literal["checkout", "clone", "wheel"]


class Location(NamedTuple):
    """A place in the tree. ``line`` 0 means the file as a whole."""

    path: str
    line: int
    end_line: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path

    def covers(self, line: int) -> bool:
        """Whether a line of the file is one of its lines."""
        return self.line <= line <= max(self.line, self.end_line)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a reader could not read, and why, in one line."""

    path: str
    line: int
    """0 for a problem of the whole file."""
    message: str

    @property
    def place(self) -> str:
        """``path:line``, or the path alone."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def concerns(self, place: Location) -> bool:
        """Whether it is in the lines of a place."""
        return self.path == place.path and place.line <= self.line <= place.end_line


# --------------------------------------------------------------------------- YAML facts


@dataclass(frozen=True, slots=True)
class Kernel:
    """One ``KEY: symbol`` of a ``dispatch:`` block (grouped keys are split)."""

    key: str
    symbol: str
    line: int


FLAGS = frozenset(
    [
        *("device_check", "device_guard", "manual_kernel_registration", "manual_cpp_binding"),
        *("category_override", "cpp_no_default_args", "use_const_ref_for_mutable_tensors"),
    ]
)
"""Fields of native_functions.yaml that no kernel hangs on."""


@dataclass(frozen=True, slots=True)
class NativeFunction:
    """An entry of native_functions.yaml."""

    name: str
    """Operator name without namespace, as in the schema: ``add``, ``add_``."""
    overload: str
    """``Tensor`` in ``add.Tensor``; empty for the default overload."""
    schema: str
    """The text of ``func:``."""
    location: Location
    field_lines: Mapping[str, int]
    """Line of each YAML field: ``func``, ``dispatch``, ``structured_delegate`` ..."""
    dispatch: tuple[Kernel, ...] | None
    """None when the entry has no ``dispatch:``; empty for ``dispatch: {}``."""
    variants: tuple[str, ...] = ("function",)
    structured: bool = False
    structured_delegate: str | None = None
    structured_inherits: str | None = None
    precomputed: tuple[str, ...] = ()
    ufunc_inner_loop: Mapping[str, str] = field(default_factory=dict)
    """Inner loop key (``Generic``, ``ScalarOnly``) -> text, ``add (AllAndComplex, ...)``."""
    autogen: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    python_module: str | None = None
    flags: Mapping[str, str] = field(default_factory=dict)
    """Every other field as written: ``device_check``, ``manual_cpp_binding`` ..."""

    @property
    def not_understood(self) -> tuple[str, ...]:
        """Fields that are unknown, or not of the form that they must have. What the operator's
        kernels are may hang on them."""
        return tuple(name for name in self.flags if name not in FLAGS)

    @property
    def doubt(self) -> str:
        """What may be wrong in every answer about the operator's kernels; empty for nothing."""
        fields = [f"{name!r} at line {self.field_lines[name]}" for name in self.not_understood]
        said = f"its entry has fields that are not understood: {', '.join(fields)}"
        return f"{said}; kernels may be missing" if fields else ""

    @property
    def full_name(self) -> str:
        """``add.Tensor``; just ``relu`` for a default overload."""
        return f"{self.name}.{self.overload}" if self.overload else self.name


@dataclass(frozen=True, slots=True)
class Formula:
    """One line of a derivatives.yaml entry: ``self: grad * other``."""

    inputs: tuple[str, ...]
    """The inputs it is for; several for ``self, other: f(grad)``."""
    text: str
    location: Location
    kind: Literal["gradient", "forward", "non_differentiable"] = "gradient"
    """``forward`` is a jvp, keyed by outputs (``result: auto_linear``)."""


@dataclass(frozen=True, slots=True)
class FormulaSet:
    """The formulas of one autograd dispatch key, and the Node class made from them."""

    key: str
    """``Default`` or e.g. ``AutogradNestedTensor``."""
    grad_fn: str | None
    """``MulBackward0``; None when nothing is differentiable."""
    formulas: tuple[Formula, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class DerivativeEntry:
    """An entry of derivatives.yaml."""

    op: str
    """``mul.Tensor``."""
    schema: str
    location: Location
    sets: tuple[FormulaSet, ...]
    output_differentiability: tuple[str, ...] | None = None


# ---------------------------------------------------------------------- C++ facts


DefinitionKind = Literal[
    "function",
    "class",
    "enum",
    "impl_func",
    "meta_func",
    "macro",
    "macro_use",
    "global",
    "alias",
    "python",
    "method",
]


TEMPLATE = "template"
"""What a reader notes of a function template; no kernel registered by name can be one."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition in C++, CUDA, Objective-C++ or Python source."""

    name: str
    """Last component: ``add_kernel``."""
    scope: str
    """Enclosing namespaces and classes: ``at::native::(anonymous)``."""
    kind: DefinitionKind
    location: Location
    parameters: str = ""
    """Text between the parentheses, on one line."""
    guard: str = ""
    """The ``#if`` conditions it stands under, include guards left out."""
    macro: str = ""
    """The macro whose use at ``location`` makes it, when it is not written out."""
    macro_location: Location | None = None
    """Where that macro is defined."""
    cuda_global: bool = False
    """A ``__global__`` function."""
    template: bool = False
    """A function template."""

    @property
    def qualified(self) -> str:
        return f"{self.scope}::{self.name}" if self.scope else self.name


# ----------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """Which source an answer was read from."""

    kind: SourceKind
    root: str
    """Absolute path of the tree; never part of the JSON contract's ``source``."""
    version: str
    commit: str | None
    dirty: bool
    missing: tuple[str, ...] = ()
    """What this source does not hold, each with the command that adds it."""


@dataclass(frozen=True, slots=True)
class OperatorSummary:
    """A row of the operator list."""

    full_name: str
    schema: str
    location: Location
    keys: tuple[str, ...]
    """Dispatch keys it has a kernel for, delegates followed."""
    tags: tuple[str, ...]
    python_module: str | None
    has_derivative: bool
    kind: str
    """``structured``, ``delegate``, ``composite``, ``plain``, ``autogen``, ``no kernel``, or
    ``unknown`` for an entry with a field that is not understood."""
    files: tuple[str, ...] = ()
    """Paths of its kernels' files."""
    devices: tuple[str, ...] = ()
    """Devices on which it runs, by kernels of its own or by the operators that it calls."""
    differentiable: bool = False
    """Whether it has a derivative, its own or through the operators that it calls."""
    called: bool = False
    """Whether operators call it in their own code."""


@dataclass(frozen=True, slots=True)
class DtypeDispatch:
    """A use of a macro that switches over dtypes, such as ``AT_DISPATCH_FLOATING_TYPES``."""

    macro: str
    location: Location
    dtypes: tuple[str, ...]
    """Enumerators of ScalarType, in the order of the cases: ``Double, Float``."""
    type_name: str = ""
    """What the body calls the type: ``scalar_t``, ``index_t``."""
    tag: str = ""
    """The name in the error for other dtypes: ``"mul_cpu" not implemented for 'Half'``."""
    guard: str = ""
    """The ``#if`` of this expansion, when the macro is defined in several ways."""
    unread: tuple[str, ...] = ()
    """Cases that are no enumerator: a template's parameter."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A condition in the code that decides at run time whether a step is taken."""

    text: str
    """``if (use_mkldnn)``, ``switch (backend) case Backend::cudnn``."""
    arm: str
    """``then``, ``else``, ``case``, or ``otherwise``: behind a branch that returns."""
    location: Location


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


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One (overload, dispatch key) pair: a row of ``torchnav export kernels``."""

    op: str
    key: str
    symbol: str
    kind: KernelKind
    definitions: tuple[Definition, ...]
    confidence: Confidence
    rule: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StubRow:
    """One registration of a stub: a row of ``torchnav export stubs``."""

    stub: str
    device: str
    macro: str
    function: str
    registration: Location
    definition: Definition | None
    reason: str = ""
    guard: str = ""
    alternatives: tuple[Definition, ...] = ()
    """Every definition under its own ``#if``, when there are several."""


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


@dataclass(frozen=True, slots=True)
class NameMatch:
    """What a pasted name means in this index."""

    kind: Literal["operator", "grad_fn", "symbol", "stub", "none"]
    text: str
    """The name as understood: ``add.Tensor``, ``AddmmBackward0``, ``at::native::add_kernel``."""
    overloads: tuple[str, ...] = ()
    """Operators it leads to, best first; several for a bare ``add``."""
    hits: tuple[Hit, ...] = ()
    """Places it names, for a symbol or stub."""
    note: str = ""
    suggestions: tuple[str, ...] = ()
    """Near names, when nothing matches."""


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
