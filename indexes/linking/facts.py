"""The questions that linking asks, and the hops that it returns.

The index answers the questions from SQLite, tests from memory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypedDict

from indexes.model.answers import Hop, Unresolved
from indexes.model.files import PACK, Call
from indexes.model.idioms import meaning_of
from indexes.model.vocabulary import (
    Choice,
    Confidence,
    Definition,
    DerivativeEntry,
    DtypeDispatch,
    KernelRow,
    Location,
    NativeFunction,
    Role,
    Work,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Call", "Facts", "Known", "LibraryUse", "StubUse"]


class Known(NamedTuple):
    """A definition with its number, under which its calls are stored."""

    id: int
    definition: Definition


class StubUse(NamedTuple):
    """A DECLARE, DEFINE or REGISTER line of a stub."""

    macro: str
    stub: str
    """As written: ``cpublas::gemm_stub``."""
    arguments: str
    scope: str
    location: Location
    guard: str

    @property
    def what(self) -> str:
        """``declared``, ``defined`` or ``registered``."""
        return meaning_of(self.macro) or ""


class StubEntry(NamedTuple):
    """A function that a line registers on a stub, for one device."""

    stub: str
    """With its namespace: ``at::native::add_stub``."""
    device: str
    macro: str
    """The macro, with the architecture if it takes one: ``REGISTER_ARCH_DISPATCH:DEFAULT``."""
    function: str
    """As written; ``nullptr`` for none."""
    location: Location
    guard: str
    target: int | None
    """The number of the function's definition."""
    reason: str
    """Why there is no target."""


@dataclass(frozen=True, slots=True)
class LibraryKernel:
    """A function that a TORCH_LIBRARY block registers for an operator."""

    op: str
    """``add.Tensor``; with a namespace other than aten, empty for a fallback."""
    key: str
    location: Location
    rule: str


@dataclass(frozen=True, slots=True)
class LibraryUse:
    """``m.impl(...)``, ``m.def(...)`` or ``m.fallback(...)`` in a TORCH_LIBRARY block."""

    op: str
    """``add.Tensor``; with a namespace other than aten, empty for a fallback."""
    block: str
    """The arguments of the block's macro: ``aten, CPU, m``."""
    method: str
    arguments: str
    location: Location
    """The call, or the use of the macro that expands to it."""
    block_line: int
    guard: str
    macro: Location | None = None
    """Where that macro is defined."""
    block_macro: str = "TORCH_LIBRARY"
    """The macro that opens the block."""


BY_HAND = "whose C++ binding is written by hand (manual_cpp_binding): it need not dispatch"
EdgeKind = Literal[
    "call",
    "chooser",
    "functor",
    "passed",
    "macro",
    "launch",
    "shader",
    "stub",
    "passed stub",
    "operator",
    "accessor",
    "static dispatch",
    "passed operator",
    "library",
    "loop",
    "unknown",
]
RULES: dict[EdgeKind, str] = {
    "call": "called here",
    "chooser": "called here; a switch picks by what it returns",
    "functor": "a functor given to what is called here",
    "passed": "passed on by name",
    "macro": "a macro used here",
    "launch": "a __global__ function launched with <<<>>>",
    "shader": "a Metal kernel, asked for by its name",
    "stub": "a stub, called through its dispatch table",
    "passed stub": "a stub, passed on by name",
    "operator": "re-dispatches to the operator",
    "accessor": f"calls an operator {BY_HAND}",
    "static dispatch": "calls the operator's kernel for one key, without the dispatcher",
    "passed operator": "an operator, passed on by name",
    "library": "a function of a library",
    "loop": "runs a loop over elements",
    "unknown": "its target is not known",
}
"""The sentence shown for each kind of edge."""
TO_DEFINITIONS = frozenset(("call", "chooser", "functor", "passed", "macro", "launch", "shader"))
TO_OPERATORS = frozenset(("operator", "accessor", "static dispatch", "passed operator"))
TO_STUBS = frozenset(("stub", "passed stub"))


class Edge(NamedTuple):
    """A use of a name in a body, with one of its meanings."""

    caller: int
    """The number of the definition with the body; -1 - position for a derivative's formulas."""
    line: int
    kind: EdgeKind
    symbol: str
    """As written: ``at::add_out``."""
    target: int | str
    """A definition's number, an overload, a stub with its namespace, a library, or why it is
    unknown."""
    confidence: Confidence = "exact"
    candidates: int = 1
    branch: int = 0
    """The innermost branch of the body around the use; 0 for none."""
    macro: str = ""
    """The macro that contains the use."""

    @property
    def rule(self) -> str:
        """Why it is there, in a sentence."""
        rule = RULES[self.kind]
        if self.macro:
            rule += f", in the macro {self.macro}"
        if self.candidates > 1:
            rule += f"; one of {self.candidates}, by the object's class or the argument types"
        return rule


def arguments_of(call: Call) -> list[str] | None:
    """The marks of a call's arguments; None if a pack or macro hides their number."""
    marks = call.arguments.split()
    if "." not in call.arguments:
        return marks
    several = any(mark.endswith(PACK) or (mark[:1] == "." and mark.isupper()) for mark in marks)
    return None if several else marks


def by_hand(function: NativeFunction) -> bool:
    """Whether its C++ function is handwritten and may not dispatch, as ``x.is_complex()``."""
    return function.flags.get("manual_cpp_binding", "").lower() == "true"


class Facts(Protocol):
    """The questions of the linker."""

    def named(self, name: str) -> Sequence[Known]:
        """Every definition whose last component is ``name``."""

    def members(self, owner: Definition, name: str) -> Sequence[Known]:
        """The methods of that name in a class."""

    @property
    def tensor_names(self) -> Collection[str]:
        """The other names of tensors: ``using SparseTensor = Tensor``."""

    def is_type(self, name: str) -> bool:
        """Whether a class or an alias of a type bears this name."""

    def nominated(self, scope: str) -> Sequence[str]:
        """The namespaces that headers add to ``scope`` by ``using namespace``."""

    def calls(self, known: Known) -> Sequence[Call]:
        """The uses of names in a definition's body, in order."""

    def stub_uses(self, stub: str) -> Sequence[StubUse]:
        """Lines that declare, define or register a stub of that last component."""

    def native(self, full_name: str) -> NativeFunction | None:
        """The YAML entry of an overload."""

    def overloads(self, base: str) -> Sequence[NativeFunction]:
        """All overloads of an operator name, in YAML order."""

    def kernels(self, full_name: str) -> Sequence[KernelRow]:
        """The kernels of an overload."""

    def known(self, definition: Definition) -> Known | None:
        """The same definition with its number."""

    def derivative(self, full_name: str) -> tuple[DerivativeEntry | None, str]:
        """The derivative entry of an overload with the rule, or None with the reason."""


@dataclass(frozen=True, slots=True)
class Link:
    """Something related to an operator, such as a Python name or a test."""

    role: Role
    symbol: str
    location: Location
    rule: str
    confidence: Confidence
    note: str = ""
    evidence: tuple[Location, ...] = ()
    keys: tuple[str, ...] = ()


class Details(TypedDict, total=False):
    """Optional fields of a ``Hop``."""

    device: str | None
    note: str
    dtypes: tuple[DtypeDispatch, ...]
    choices: tuple[Choice, ...]
    work: Work | None


class HopList:
    """Collects hops; equal siblings become one."""

    def __init__(self) -> None:
        self.hops: list[Hop] = []
        self.unresolved: list[Unresolved] = []
        self._seen: dict[tuple[object, ...], int] = {}

    def add(
        self,
        parent: int | None,
        role: Role,
        symbol: str,
        location: Location | None,
        rule: str,
        confidence: Confidence = "exact",
        *,
        keys: Sequence[str] = (),
        evidence: Sequence[Location] = (),
        guard: str = "",
        **details: Unpack[Details],
    ) -> int:
        """Adds a hop, or the evidence to an equal sibling. Returns its id."""
        identity = (parent, role, symbol, location, details.get("device"))
        number = self._seen.setdefault(identity, len(self.hops))
        if number == len(self.hops):
            said = (number, parent, role, symbol, location, rule, confidence)
            keys, evidence = tuple(keys), tuple(evidence)
            self.hops.append(Hop(*said, keys=keys, evidence=evidence, guard=guard, **details))
        else:
            known = self.hops[number]
            both = dict.fromkeys((*known.evidence, *evidence))
            notes = dict.fromkeys(filter(None, (known.note, details.get("note"))))
            self.hops[number] = replace(known, evidence=tuple(both), note=", ".join(notes))
        return number

    def add_definition(
        self,
        parent: int | None,
        role: Role,
        found: Definition,
        rule: str,
        confidence: Confidence = "exact",
        *,
        keys: Sequence[str] = (),
        evidence: Sequence[Location] = (),
        **details: Unpack[Details],
    ) -> int:
        """Adds a hop to a definition, with its guard and the macro that makes it."""
        places = [*evidence, *filter(None, (found.macro_location,))]
        what = (parent, role, found.qualified, found.location, rule, confidence)
        return self.add(*what, keys=keys, evidence=places, guard=found.guard, **details)

    def miss(
        self, parent: int | None, role: Role, symbol: str, reason: str, keys: Sequence[str] = ()
    ) -> None:
        """Adds a hop for something that could not be linked."""
        one = Unresolved(role, symbol, reason, tuple(keys), parent)
        if one not in self.unresolved:
            self.unresolved.append(one)
