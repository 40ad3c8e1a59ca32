"""Operator schemas: ``add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``.

Reads both spellings: of native_functions.yaml and of the dispatcher (``aten::add.Tensor(...)``,
lists with spaces).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from indexes.model.regex import regex


class SchemaKind(Enum):
    """What an overload does to its arguments; torchgen's five kinds."""

    FUNCTIONAL = "functional"
    INPLACE = "inplace"
    OUT = "out"
    MUTABLE = "mutable"
    SCRATCH = "scratch"


class _Typed:
    """A type of a schema with its alias annotation."""

    __slots__ = ()
    type: str
    annotation: str | None

    @property
    def mutable(self) -> bool:
        return self.annotation is not None and "!" in self.annotation

    @property
    def base_type(self) -> str:
        """``SymInt`` for ``SymInt[2]?``."""
        return self.type.partition("[")[0].rstrip("?")

    @property
    def annotated_type(self) -> str:
        """The type as the schema writes it: ``Tensor(a!)?``."""
        if self.annotation is None:
            return self.type
        return self.type.replace(self.base_type, f"{self.base_type}({self.annotation})", 1)


@dataclass(frozen=True, slots=True)
class Argument(_Typed):
    """One argument. ``Tensor(a!)? out`` has type ``Tensor?`` and annotation ``a!``."""

    name: str
    type: str
    """Without the alias annotation: ``Tensor?``, ``int[2]``, ``SymInt[]?``."""
    default: str | None = None
    annotation: str | None = None
    kwarg_only: bool = False
    is_out: bool = False
    """Keyword-only and written to: torchgen's out argument."""

    def __str__(self) -> str:
        default = "" if self.default is None else f"={self.default}"
        return f"{self.annotated_type} {self.name}{default}"


@dataclass(frozen=True, slots=True)
class Return(_Typed):
    """One returned value; most have no name."""

    type: str
    name: str | None = None
    annotation: str | None = None

    def __str__(self) -> str:
        return f"{self.annotated_type} {self.name}" if self.name else self.annotated_type


Signature = tuple[str, tuple[tuple[str, str, bool], ...], tuple[str, ...]]
"""What the functional, in-place, out and mutable variants of one operator have in common."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A parsed schema."""

    name: str
    """Without namespace and overload: ``add_``."""
    overload: str
    arguments: tuple[Argument, ...]
    """In schema order, out arguments last."""
    returns: tuple[Return, ...]
    namespace: str = ""
    """``aten``; empty if the text has none, as in native_functions.yaml."""

    @property
    def full_name(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name

    def in_cpp(self, member: bool = False, out_last: bool = False) -> list[Argument]:
        """The arguments in the order of the C++ function: outputs first except in ``_outf``,
        without ``self`` for a method."""
        outs = [one for one in self.arguments if one.is_out]
        plain = [a for a in self.arguments if not a.is_out and not (member and a.name == "self")]
        return [*plain, *outs] if out_last else [*outs, *plain]

    @property
    def _inner(self) -> str:
        """``iand`` for ``__iand__``; empty for any other name."""
        found = _DUNDER.match(self.name) if self.name.startswith("__") else None
        return found[1] if found else ""

    @property
    def dunder(self) -> bool:
        return bool(self._inner)

    @property
    def inplace(self) -> bool:
        """``add_`` and ``__iadd__``, not ``__and__``."""
        inner = self._inner
        if not inner:
            return self.name.endswith("_")
        return inner.startswith("i") and inner[1:] in _AUGMENTED

    @property
    def base(self) -> str:
        """The name its variants have in common: ``add`` for ``add_``, ``and`` for ``__iand__``."""
        if self.dunder:
            return self._inner[1:] if self.inplace else self._inner
        return self.name.removesuffix("_").removesuffix("_functional")

    @property
    def out_arguments(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.is_out)

    @property
    def kind(self) -> SchemaKind:
        """In-place takes precedence; scratch is an out overload with scratch tensors."""
        if self.inplace:
            return SchemaKind.INPLACE
        outs = self.out_arguments
        if outs:
            scratch = any(a.name.startswith("_scratch_") for a in outs)
            return SchemaKind.SCRATCH if scratch else SchemaKind.OUT
        mutable = any(a.mutable for a in self.arguments)
        return SchemaKind.MUTABLE if mutable else SchemaKind.FUNCTIONAL

    @property
    def has_symint(self) -> bool:
        return any(a.base_type == "SymInt" for a in self.arguments if not a.is_out)

    @property
    def unambiguous_name(self) -> str:
        """``add_Tensor``: the name of the class in ``at::_ops``."""
        return f"{self.name}_{self.overload}" if self.overload else self.name

    def signature(self) -> Signature:
        """Equal for variants of one operator, as torchgen's ``FunctionSchema.signature``.

        Without overload, annotations, defaults, out arguments and TensorOptions; arguments that are
        written to but not returned become returns.
        """
        dropped = _tensor_options(self.arguments)
        arguments = tuple(
            (a.name, a.type, a.kwarg_only)
            for a in self.arguments
            if not a.is_out and a not in dropped
        )
        returns = tuple(r.type for r in self.returns)
        if written := written_first(self.arguments):
            returned = {r.annotation for r in self.returns}
            returns += tuple(a.type for a in written if a.annotation not in returned)
        base = f"__{self.base}__" if self.dunder else self.base
        return (base, arguments, returns)

    def __str__(self) -> str:
        parts: list[str] = []
        for a in self.arguments:
            if a.kwarg_only and "*" not in parts:
                parts.append("*")
            parts.append(str(a))
        returns = ", ".join(map(str, self.returns))
        if len(self.returns) != 1:
            returns = f"({returns})"
        space = f"{self.namespace}::" if self.namespace else ""
        return f"{space}{self.full_name}({', '.join(parts)}) -> {returns}"


@lru_cache(maxsize=16384)
def parse_schema(text: str) -> Schema:
    """The schema in ``text``. Raises ValueError with what is wrong and where."""
    head, paren, rest = text.strip().partition("(")
    body, arrow, returns = rest.rpartition(") -> ")
    if not paren or not arrow:
        raise ValueError(f"not a schema of the form name(arguments) -> returns: {_short(text)}")
    space, _, qualified = head.strip().rpartition("::")
    name, _, overload = qualified.partition(".")
    if not _is_name(name) or (overload and not _is_name(overload)):
        raise ValueError(f"not an operator name: {_short(head)}")
    arguments = _arguments(body, is_varied=bool(space))
    return Schema(name, overload, arguments, _returns(returns.strip()), space)


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier()


_DUNDER = regex(r"__([^_]+)__$")
_AUGMENTED = frozenset(
    ["add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or"]
)
"""Python's in-place operators (PEP 203) with an ``__i...__`` method."""
_NESTS = frozenset("[]()\"'")
_PART = regex(r"""(?:[^,\[\]()"']+|\[[^\]]*\]|\([^)]*\)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')+""")
_ANNOTATED = regex(r"(\w[\w.]*)\(([^)]*)\)(.*)")
_OPTIONS = (("dtype", "ScalarType"), ("layout", "Layout"), ("device", "Device"))


def _short(text: str) -> str:
    shown = " ".join(text.split())
    return repr(shown if len(shown) <= 80 else shown[:77] + "...")


def _parts(text: str) -> list[str]:
    """Split at the commas that stand outside brackets and quotes."""
    parts = text.split(",") if _NESTS.isdisjoint(text) else _PART.findall(text)
    if sum(map(len, parts)) + len(parts) - 1 != len(text):
        raise ValueError(f"unbalanced brackets in {_short(text)}")
    stripped = [part.strip() for part in parts]
    if not all(stripped):
        raise ValueError(f"nothing between two commas of {_short(text)}")
    return stripped


def _arguments(body: str, is_varied: bool) -> tuple[Argument, ...]:
    """The arguments; ``...`` for any others, if a schema of the dispatcher has it."""
    if not body.strip():
        return ()
    arguments: list[Argument] = []
    kwarg_only = False
    for part in _parts(body):
        if part == "*":
            kwarg_only = True
        elif not (is_varied and part == "..."):
            arguments.append(_argument(part, kwarg_only))
    return tuple(arguments)


def _argument(text: str, kwarg_only: bool) -> Argument:
    left, equals, default = text.partition("=")
    annotated, _, name = left.rstrip().rpartition(" ")
    if not annotated or not _is_name(name):
        raise ValueError(f"not an argument of the form type name: {_short(text)}")
    type_, annotation = _type(annotated.strip())
    is_out = kwarg_only and "!" in (annotation or "")
    return Argument(name, type_, default if equals else None, annotation, kwarg_only, is_out)


def _type(text: str) -> tuple[str, str | None]:
    match = _ANNOTATED.fullmatch(text) if "(" in text else None
    if match is None or match[1] in ("Dict", "Tuple", "Union", "Future", "Await", "RRef"):
        return text, None
    return match[1] + match[3], match[2]


def _returns(text: str) -> tuple[Return, ...]:
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    return tuple(map(_return, _parts(text))) if text else ()


def _return(text: str) -> Return:
    annotated, _, name = text.rpartition(" ")
    if not annotated or not _is_name(name) or annotated.count("(") > annotated.count(")"):
        type_, annotation = _type(text)
        return Return(type_, None, annotation)
    type_, annotation = _type(annotated)
    return Return(type_, name, annotation)


def _tensor_options(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    wanted = (*_OPTIONS, ("pin_memory", "bool"))
    keywords = [a for a in arguments if a.kwarg_only and not a.is_out]
    for start in range(len(keywords) - len(wanted) + 1):
        run = keywords[start : start + len(wanted)]
        if all((a.name, a.base_type) == w for a, w in zip(run, wanted, strict=True)):
            return tuple(run)
    return ()


def tensor_options(schema: Schema) -> tuple[Argument, ...]:
    """``dtype, layout, device, pin_memory`` when the schema has all four in a row."""
    return _tensor_options(schema.arguments)


def written_first(arguments: tuple[Argument, ...]) -> list[Argument]:
    """Arguments that are written to: ``self``, then out, then positional ones."""
    return sorted(
        (a for a in arguments if a.mutable),
        key=lambda a: (a.name != "self" or a.is_out, not a.is_out),
    )
