"""The vocabulary of torchnav: what readers find in source and what queries answer.

Every entity is a frozen dataclass with its place. Paths are relative to the root of the source
tree, with forward slashes; lines count from 1; an ``end_line`` of 0 means "not known". Nothing here
does I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

SCHEMA_VERSION = 1

Confidence = Literal["exact", "by rule", "ambiguous"]
"""``exact``: the source says so. ``by rule``: follows from codegen or macro rules, which ``rule``
names. ``ambiguous``: one of several candidates, all of them given."""

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
"""What a step does: ``computes`` is a loop over elements, a launch, a library call; the others lead
to it, or are aside."""

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
        """Whether it is on the lines of a place."""
        return self.path == place.path and place.line <= self.line <= place.end_line


# --------------------------------------------------------------------------- YAML facts


RUNTIME_KEY = "ExecuTorch"
"""Stands for the dispatch key of an ExecuTorch kernel, which has no dispatcher."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """One ``KEY: symbol`` of a ``dispatch:`` block (grouped keys are split)."""

    key: str
    symbol: str
    line: int
    path: str = ""
    """The file of the line, if not the operator's."""


FLAGS = frozenset(
    [
        *("device_check", "device_guard", "manual_kernel_registration", "manual_cpp_binding"),
        *("category_override", "cpp_no_default_args", "use_const_ref_for_mutable_tensors"),
        *("use_c10_dispatcher", "supports_named_tensor", "requires_tensor", "named_guard"),
    ]
)
"""Fields of native_functions.yaml without effect on kernels; the last four are of versions before
1.9: how a kernel was boxed, and what its wrapper checked."""


@dataclass(frozen=True, slots=True)
class NativeFunction:
    """An operator's overload: an entry of native_functions.yaml, or what ``m.def`` defines."""

    name: str
    """The operator's name in the schema: ``add``, ``add_``; with a namespace other than aten:
    ``quantized::add``."""
    overload: str
    """``Tensor`` in ``add.Tensor``; empty for the default overload."""
    schema: str
    """The text of ``func:``."""
    location: Location
    field_lines: Mapping[str, int]
    """Line of each YAML field: ``func``, ``dispatch``, ``structured_delegate`` ..."""
    dispatch: tuple[Kernel, ...] | None
    """None without ``dispatch:``; empty for ``dispatch: {}``."""
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
    """What defines an operator without entry: ``m.def in TORCH_LIBRARY(quantized)``."""

    @property
    def space(self) -> str:
        """The namespace prefix of its name: ``quantized::``; empty for aten."""
        return "".join(self.name.rpartition("::")[:2])

    @property
    def not_understood(self) -> tuple[str, ...]:
        """Fields that are unknown or have the wrong form. The operator's kernels may depend on
        them."""
        return tuple(name for name in self.flags if name not in FLAGS)

    @property
    def doubt(self) -> str:
        """What may be wrong in answers about the operator's kernels; empty for nothing."""
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
    """Its inputs; several for ``self, other: f(grad)``."""
    text: str
    location: Location
    kind: Literal["gradient", "forward", "non_differentiable"] = "gradient"
    """``forward`` is a jvp, keyed by outputs (``result: auto_linear``)."""


@dataclass(frozen=True, slots=True)
class FormulaSet:
    """The formulas of one autograd dispatch key, and their Node class."""

    key: str
    """``Default`` or e.g. ``AutogradNestedTensor``."""
    grad_fn: str | None
    """``MulBackward0``; None if nothing is differentiable."""
    formulas: tuple[Formula, ...]
    location: Location

    def makes(self, node: str) -> bool:
        """Whether it makes a Node class; a view's also makes that of its copy:
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


OUT_RAISES = "out= overloads are never differentiable: they raise when an argument requires grad"
"""Why an out= overload whose functional form has formulas has none."""


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
"""A reader's note for a function template, which cannot be a kernel registered by name."""


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
    """The ``#if`` conditions around it, without include guards."""
    macro: str = ""
    """The macro whose use at ``location`` makes it, if any."""
    macro_location: Location | None = None
    """Where that macro is defined."""
    cuda_global: bool = False
    """A ``__global__`` function."""
    template: bool = False
    """A function template."""
    returns: str = ""
    """The mark (``cxx.marks``) of a function's result."""
    virtual: bool = False
    """A method declared virtual or overriding."""
    bound: str = ""
    """The values of its template's parameters, by name and position: ``,N`` for ``template
    <typename T, int N>``; behind a ``;`` those of its class, behind another what ``enable_if``
    requires."""

    @property
    def qualified(self) -> str:
        return f"{self.scope}::{self.name}" if self.scope else self.name


# ----------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """The source of an answer."""

    kind: SourceKind
    root: str
    """Absolute path of the tree; not in the JSON contract's ``source``."""
    version: str
    commit: str | None
    dirty: bool
    missing: tuple[str, ...] = ()
    """What this source lacks, each with the command that adds it."""
    roots: tuple[tuple[str, str], ...] = ()
    """Name and folder of each extension indexed with it."""

    @property
    def extensions(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.roots)


@dataclass(frozen=True, slots=True)
class OperatorSummary:
    """A row of the operator list."""

    full_name: str
    schema: str
    location: Location
    keys: tuple[str, ...]
    """Dispatch keys with a kernel of it, including its delegate's."""
    tags: tuple[str, ...]
    python_module: str | None
    has_derivative: bool
    kind: str
    """``structured``, ``delegate``, ``composite``, ``plain``, ``autogen``, ``no kernel``, or
    ``unknown`` for an entry with an unknown field."""
    files: tuple[str, ...] = ()
    """Paths of its kernels' files."""
    devices: tuple[str, ...] = ()
    """Devices on which it runs, by its own kernels or by operators that it calls."""
    differentiable: bool = False
    """Whether it has a derivative, its own or through operators that it calls."""
    called: bool = False
    """Whether operators call it in their own code."""

    @property
    def namespace(self) -> str:
        """``aten``, ``quantized``, ``prims`` ..."""
        return self.full_name.rpartition("::")[0] or "aten"


@dataclass(frozen=True, slots=True)
class DtypeDispatch:
    """A use of a dtype dispatch macro, such as ``AT_DISPATCH_FLOATING_TYPES``."""

    macro: str
    location: Location
    dtypes: tuple[str, ...]
    """Enumerators of ScalarType, in the order of the cases: ``Double, Float``."""
    type_name: str = ""
    """The body's name for the type: ``scalar_t``, ``index_t``."""
    tag: str = ""
    """The name in the error for other dtypes: ``"mul_cpu" not implemented for 'Half'``."""
    guard: str = ""
    """The ``#if`` of this expansion, if the macro has several definitions."""
    unread: tuple[str, ...] = ()
    """Cases that are no enumerators: template parameters."""


class Choice(NamedTuple):
    """A condition in the code that decides at run time whether a step is taken."""

    text: str
    """``if (use_mkldnn)``, ``switch (backend) case Backend::cudnn``."""
    arm: str
    """``then``, ``else``, ``case``, or ``otherwise``: behind a branch that returns; ``text`` is
    ``true`` if every branch of an ``if`` returns, so that this is unreachable."""
    location: Location
    means: str = ""
    """The text with the body's own names replaced; empty if it has none."""


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
    """The registering line, if not in the operator's entry."""
    calls: str = ""
    """The operator that a Python kernel calls, if known."""


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
