"""What an expression of a registration means, as far as the source alone can tell."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple


class Unknown:
    """A value that only running the program would give."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()
EVERY = Unknown()
"""The names of an operator's overloads, which a Python file does not tell: each in turn."""


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
    """A module, or something that a module holds: ``torch._decomp.register_decomposition``."""

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
    """A path in its usual spelling: ``torch._ops.ops`` is ``torch.ops``."""
    if dotted == "torch._ops.ops" or dotted.startswith("torch._ops.ops."):
        dotted = "torch.ops" + dotted[len("torch._ops.ops") :]
    return Path(dotted)


@dataclass(slots=True, eq=False)
class Opaque:
    """Something made by the module itself that is only known by the name it was given."""

    label: str = ""


@dataclass(slots=True, eq=False)
class Class(Opaque):
    """A class of the module."""

    makes: Op | None = None
    """The operator that its objects are, for one that derives from HigherOrderOperator."""


@dataclass(slots=True, eq=False)
class Record(Opaque):
    """What a class of the module was called with: ``OverridesData(name="erf", cpp=...)``."""

    fields: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Function:
    """The identity of a function: what ``inspect.unwrap`` would lead to."""

    name: str
    module: str
    line: int
    inner: bool = False
    """Defined inside another function, so that each call makes a new one."""
    owner: str = ""
    """The outermost of the functions around an inner one."""
    model: str = ""
    """Its ``__name__`` was set: a variant made from the function of this name at ``line``."""


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
    """A call of a generator function, to be followed where something iterates over it."""

    callee: Closure
    given: tuple[Sequence[object], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Pending:
    """A registering decorator that waits for its function."""

    kind: str
    ops: tuple[object, ...]
    detail: dict[str, str] = field(default_factory=dict)
    written: ast.expr | None = None
    """The operator argument as written."""
    helper: str = ""
    """The module's own function that called the API."""
    mutates: object = ()
    """The names of the arguments that an operator writes to."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call of another module's function, whose body is not at hand."""

    callee: str
    args: tuple[object, ...]
    kwargs: dict[str, object]


@dataclass(frozen=True, slots=True)
class Builtin:
    """A built-in function or type, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Wraps:
    """``functools.wraps(fn)``, waiting for the function that takes ``fn``'s identity."""

    function: object


# ------------------------------------------------------------------ what is found on the way


class Registration(NamedTuple):
    """A function entered in a table for an operator."""

    kind: str
    target: str
    """Empty when which operator it is for is decided at run time."""
    function: Function | None
    detail: Mapping[str, str]
    at: int
    """Line of the statement or decorator that registers."""
    site: int
    """Line of the module's statement: of ``def`` where a function is decorated."""
    text: str
    """The operator argument as written, where it is not known which operator that is."""
    helper: str
    """The module's own function through which it came, if any."""
    condition: str = ""
    """The test, not decided by the source, under which it is registered."""


class Returned(NamedTuple):
    """That a ``return`` was reached; not ``certain`` under a condition that is not known."""

    value: object
    certain: bool = True


class Deferred(NamedTuple):
    """A call of another module's function that may register something."""

    call: Called
    applied_to: Function | None
    at: int
    site: int


def identity(value: object) -> Function | None:
    """The function that a value is, if it is one."""
    if isinstance(value, Closure):
        return value.function
    return value if isinstance(value, Function) else None


def named_after(value: object, model: object) -> object:
    """A function with the name and place of another one, as ``functools.wraps`` makes it."""
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
