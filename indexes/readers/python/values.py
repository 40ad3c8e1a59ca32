"""Values of expressions in registrations, as far as the source tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple


class Unknown:
    """A value that only a run would give."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()
EVERY = Unknown()
"""Stands for all names of an operator's overloads, which a Python file does not list."""


@dataclass(frozen=True, slots=True)
class Op:
    """``torch.ops.aten.add`` (every overload) or ``torch.ops.aten.add.Tensor``."""

    namespace: str
    name: str
    overload: str | None = None

    @property
    def target(self) -> str:
        base = f"{self.namespace}::{self.name}"
        return f"{base}.{self.overload}" if self.overload else base

    def attribute(self, name: str) -> object:
        if name == "__name__":
            return f"{self.name}.{self.overload}" if self.overload else self.name
        if name in {"overloadpacket", "_overloadpacket"}:
            return Op(self.namespace, self.name)
        if self.overload or name.startswith("_") or name in _PACKET_ATTRIBUTES:
            return UNKNOWN
        return Op(self.namespace, self.name, name)


_PACKET_ATTRIBUTES = {"overloads", "op", "py_impl", "decompose"}


@dataclass(frozen=True, slots=True)
class Path:
    """A module, or a member of one: ``torch._decomp.register_decomposition``."""

    dotted: str

    @property
    def last(self) -> str:
        return self.dotted.rpartition(".")[2]

    def attribute(self, name: str) -> object:
        if name == "__name__":
            return self.last
        namespace = self.dotted.removeprefix("torch.ops.")
        if namespace != self.dotted and "." not in namespace:
            return Op(namespace, name)
        return path(f"{self.dotted}.{name}")


def path(dotted: str) -> Path:
    """A path in its usual spelling: ``torch.ops`` for ``torch._ops.ops``."""
    if dotted == "torch._ops.ops" or dotted.startswith("torch._ops.ops."):
        dotted = "torch.ops" + dotted[len("torch._ops.ops") :]
    return Path(dotted)


@dataclass(slots=True, eq=False)
class Opaque:
    """A value of the module of which only the name is known."""

    label: str = ""


@dataclass(slots=True, eq=False)
class Class(Opaque):
    """A class of the module."""

    makes: Op | None = None
    """The operator of its instances, for a subclass of HigherOrderOperator."""


@dataclass(slots=True, eq=False)
class Record(Opaque):
    """The arguments of a class's call: ``OverridesData(name="erf", cpp=...)``."""

    fields: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Function:
    """The identity of a function, as ``inspect.unwrap`` gives it."""

    name: str
    module: str
    line: int
    inner: bool = False
    """Defined inside another function: each call makes a new one."""
    owner: str = ""
    """The outermost function around an inner one."""
    model: str = ""
    """The function at ``line`` whose variant this is, by its ``__name__``."""


@dataclass(frozen=True, slots=True)
class Library:
    """``torch.library.Library("aten", "IMPL", "Meta")``."""

    namespace: str
    key: str = ""


class Scope:
    """Names bound in a module or a function call."""

    __slots__ = ("names", "parent")

    def __init__(self, parent: Scope | None = None) -> None:
        self.names: dict[str, object] = {}
        self.parent = parent

    def get(self, name: str) -> object:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return UNKNOWN


FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Callee = FunctionNode | ast.Lambda


@dataclass(slots=True, eq=False)
class Closure:
    """A function whose body can be followed."""

    node: Callee
    scope: Scope
    function: Function


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial(callee, *args, **kwargs)``."""

    callee: object
    args: tuple[object, ...]
    kwargs: dict[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class Generator:
    """A call of a generator function, followed when it is iterated over."""

    callee: Closure
    given: tuple[Sequence[object], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Pending:
    """A registering decorator before it gets its function."""

    kind: str
    ops: tuple[object, ...]
    detail: dict[str, str] = field(default_factory=dict)
    written: ast.expr | None = None
    """The operator argument as written."""
    helper: str = ""
    """The module's own function that called the API."""
    mutates: object = ()
    """The arguments that an operator writes to."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call of another module's function, whose body is not known here."""

    callee: str
    args: tuple[object, ...]
    kwargs: dict[str, object]


@dataclass(frozen=True, slots=True)
class Builtin:
    """A built-in function or type, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Wraps:
    """``functools.wraps(fn)`` before it gets a function."""

    function: object


# ------------------------------------------------------------------ what is found on the way


class Registration(NamedTuple):
    """A function entered in a table for an operator."""

    kind: str
    target: str
    """Empty if only a run tells the operator."""
    function: Function | None
    detail: Mapping[str, str]
    at: int
    """Line of the statement or decorator that registers."""
    site: int
    """Line of the module's statement: of ``def`` for a decorated function."""
    text: str
    """The operator argument as written, if its value is unknown."""
    helper: str
    """The module's own function that registers it, if any."""
    condition: str = ""
    """The undecided test under which it is registered."""


class Returned(NamedTuple):
    """A ``return``; not ``certain`` under an undecided condition."""

    value: object
    certain: bool = True


class Deferred(NamedTuple):
    """A call of another module's function that may register something."""

    call: Called
    applied_to: Function | None
    at: int
    site: int


def identity(value: object) -> Function | None:
    """The function that a value is, if any."""
    if isinstance(value, Closure):
        return value.function
    return value if isinstance(value, Function) else None


def named_after(value: object, model: object) -> object:
    """A function with the name and place of another one, as by ``functools.wraps``."""
    if not isinstance(value, Closure):
        return value
    function = identity(model)
    if function is None and isinstance(model, Op):
        function = replace(value.function, name=str(model.attribute("__name__")))
    return Closure(value.node, value.scope, function) if function else value


def leaves(value: object) -> Iterator[object]:
    """The leaves of nested lists, tuples and dicts, as ``pytree.tree_map`` visits them."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    else:
        yield value
