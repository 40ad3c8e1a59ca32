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

KernelKind = Literal[
    "plain", "structured", "macro", "ufunc", "composite", "generated", "python", "missing"
]
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


RUNTIME_KEY = "ExecuTorch"
"""Stands for the dispatch key of a kernel that ExecuTorch's runtime calls, and no dispatcher."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """One ``KEY: symbol`` of a ``dispatch:`` block (grouped keys are split)."""

    key: str
    symbol: str
    line: int
    path: str = ""
    """The file of the line, where it is not that of the operator."""


FLAGS = frozenset(
    [
        *("device_check", "device_guard", "manual_kernel_registration", "manual_cpp_binding"),
        *("category_override", "cpp_no_default_args", "use_const_ref_for_mutable_tensors"),
        *("use_c10_dispatcher", "supports_named_tensor", "requires_tensor", "named_guard"),
    ]
)
"""Fields of native_functions.yaml that no kernel hangs on; the last four are of versions before
1.9: how a kernel was boxed, and what its wrapper checked."""


@dataclass(frozen=True, slots=True)
class NativeFunction:
    """An operator's overload: an entry of native_functions.yaml, or what ``m.def`` defines."""

    name: str
    """Operator name as in the schema: ``add``, ``add_``; with its namespace where that is not
    aten: ``quantized::add``."""
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
    defined_by: str = ""
    """What defines an operator that has no entry: ``m.def in TORCH_LIBRARY(quantized)``."""

    @property
    def space(self) -> str:
        """What its name begins with for its namespace: ``quantized::``; empty for aten."""
        return "".join(self.name.rpartition("::")[:2])

    @property
    def not_understood(self) -> tuple[str, ...]:
        """Fields that are unknown, or not of the form that they must have. What the operator's
        kernels are may hang on them."""
        return tuple(name for name in self.flags if name not in FLAGS)

    @property
    def doubt(self) -> str:
        """What may be wrong in every answer about the operator's kernels; empty for nothing."""
        fields = [f"{name!r} at line {self.field_lines[name]}" for name in self.not_understood]
        text = f"its entry has fields unknown to torchnav: {', '.join(fields)}"
        return f"{text}; kernels may be missing" if fields else ""

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

    def makes(self, node: str) -> bool:
        """Whether a Node class is made from it. A view's makes that of its copy too:
        ``ViewBackward0_copy``."""
        return self.grad_fn == node.removesuffix("_copy")


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
    "shader",
    "alias",
    "python",
    "method",
]


TEMPLATE = "template"
"""What a reader notes of a function template; no kernel registered by name can be one."""


class Definition(NamedTuple):
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
    returns: str = ""
    """The mark (``cxx.marks``) of what a function returns."""
    virtual: bool = False
    """A method that is written as virtual, or as overriding one."""
    bound: str = ""
    """The values that its template takes, by name, in their places: ``,N`` of ``template <typename
    T, int N>``; behind a ``;`` those of its class."""

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
    roots: tuple[tuple[str, str], ...] = ()
    """Name and folder of each extension that is indexed with it."""

    @property
    def extensions(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(name for name, _ in self.roots)


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

    @property
    def namespace(self) -> str:
        """``aten``, ``quantized``, ``prims`` ..."""
        return self.full_name.rpartition("::")[0] or "aten"


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


class Choice(NamedTuple):
    """A condition in the code that decides at run time whether a step is taken."""

    text: str
    """``if (use_mkldnn)``, ``switch (backend) case Backend::cudnn``."""
    arm: str
    """``then``, ``else``, ``case``, or ``otherwise``: behind a branch that returns; behind an
    ``if`` of which every branch does, so that nothing reaches it, ``text`` is ``true``."""
    location: Location
    means: str = ""
    """The text with what the body's names stand for; empty where it has none of them."""


class KernelRow(NamedTuple):
    """One (overload, dispatch key) pair: a row of ``torchnav export kernels``."""

    op: str
    key: str
    symbol: str
    kind: KernelKind
    definitions: tuple[Definition, ...]
    confidence: Confidence
    rule: str
    reason: str = ""
    registered: Location | None = None
    """The line that registers it, where that is not of the operator's entry."""
    calls: str = ""
    """The operator that a Python kernel is known to call."""


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
