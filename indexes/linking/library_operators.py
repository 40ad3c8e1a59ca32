"""Operators without an entry in native_functions.yaml: defined by ``m.def`` in TORCH_LIBRARY
blocks, with the kernels that blocks register for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from indexes.linking.facts import Facts, LibraryUse
from indexes.linking.registrations import (
    REFUSES,
    Written,
    kernel_definition,
    visible,
    written_registrations,
)
from indexes.model.idioms import library_block
from indexes.model.regex import regex
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import (
    Confidence,
    Definition,
    Kernel,
    KernelKind,
    Location,
    NativeFunction,
    Problem,
)

INFERRED = "?"
"""The return type in a schema that PyTorch infers from a C++ function."""
_LITERALS = regex(r'(?:\s*(?:R"(\w*)\((?s:.*?)\)\1"|"(?:[^"\\]|\\.)*"))+')
_LITERAL = regex(r'R"(\w*)\(((?s:.*?))\)\1"|"((?:[^"\\]|\\.)*)"')
_ARROW = regex(r"\)\s*->\s*")
_TAG = regex(r"\bTag::(\w+)")
_RETURNED = regex(r"\breturn\s+((?:[A-Za-z_]\w*::)*[A-Za-z_]\w*)\s*\(")
_CALLED = regex(r"((?:[A-Za-z_]\w*::)*[A-Za-z_]\w*)\s*\(")


@dataclass(frozen=True, slots=True)
class LibraryKernelRow:
    """A kernel that a line registers for an operator."""

    key: str
    symbol: str
    location: Location
    rule: str
    kind: KernelKind
    confidence: Confidence
    link_rule: str
    reason: str
    definitions: tuple[Definition, ...] = ()
    calls: str = ""
    """The operator that a Python kernel calls, if known."""


@dataclass(slots=True)
class LibraryOperator:
    """An operator with its registered kernels, in source order."""

    native: NativeFunction
    kernels: list[LibraryKernelRow] = field(default_factory=list)

    @property
    def derivative_rule(self) -> str:
        """How it is differentiated without an entry in derivatives.yaml."""
        for one in self.kernels:
            if one.rule == REFUSES:
                return f"no entry in derivatives.yaml: {one.symbol} refuses to compute one"
            if one.key.startswith("Autograd") and one.reason == "":
                return f"no entry in derivatives.yaml: {one.symbol} is registered for {one.key}"
        if any(one.key == "CompositeImplicitAutograd" for one in self.kernels):
            return "no entry in derivatives.yaml: autograd records what its composite kernel calls"
        return "no entry in derivatives.yaml, and no formula is registered for Autograd"

    @property
    def placed(self) -> NativeFunction:
        """The operator with its kernels by key."""
        dispatch = (
            Kernel(one.key, one.symbol, one.location.line, one.location.path)
            for one in self.kernels
        )
        return replace(self.native, dispatch=tuple(dispatch))


def written_text(arguments: str) -> str:
    """The text of the string literals at the start of the arguments of ``m.def``."""
    found = _LITERALS.search(arguments)
    if found is None:
        return ""
    parts = _LITERAL.finditer(arguments, found.start(), found.end())
    return "".join(part[2] if part[3] is None else part[3] for part in parts)


def defined_operators(
    uses: Iterable[LibraryUse], known: Mapping[str, object]
) -> tuple[dict[str, LibraryOperator], list[Problem]]:
    """The operators that ``m.def`` defines, by full name, without those in the YAML (``known``). Of
    several definitions under ``#if`` the first."""
    found: dict[str, LibraryOperator] = {}
    problems: list[Problem] = []
    for use in uses:
        if use.method != "def" or use.op in known or use.op in found:
            continue
        try:
            found[use.op] = LibraryOperator(_native(use))
        except ValueError as error:
            where = use.location
            problems.append(Problem(where.path, where.line, f"m.def of {use.op}: {error}"))
    return found, problems


def _native(use: LibraryUse) -> NativeFunction:
    base, _, overload = use.op.partition(".")
    text, line = written_text(use.arguments), use.location.line
    block = library_block(use.block)
    by = f"m.def in {use.block_macro}({block.namespace}) at line {use.block_line}"
    if "(" in text:
        schema = f"{use.op}({_ARROW.sub(') -> ', text.partition('(')[2])}"
    else:
        schema = unwritten_schema(use.op)
        by += ", without a schema: PyTorch infers it from the C++ function"
    parse_schema(schema)
    return NativeFunction(
        name=base,
        overload=overload,
        schema=" ".join(schema.split()),
        location=Location(use.location.path, line, line),
        field_lines={"func": line},
        dispatch=(),
        variants=(),
        tags=tuple(_TAG.findall(use.arguments)),
        defined_by=by,
    )


def unwritten_schema(op: str) -> str:
    """A schema for an operator whose arguments and results are unknown."""
    return f"{op}({'...' if '::' in op else ''}) -> {INFERRED}"


def add_kernels(
    operators: Mapping[str, LibraryOperator],
    uses: Iterable[LibraryUse],
    macros: Mapping[str, Mapping[str, str]],
    facts: Facts,
) -> None:
    """Adds the kernels that blocks register."""
    for one in written_registrations(uses, macros):
        operator = operators.get(one.registration.op)
        if operator is not None:
            keep_kernel(operator.kernels, _kernel(one, facts))


def keep_kernel(kernels: list[LibraryKernelRow], row: LibraryKernelRow) -> None:
    """Adds a kernel, unless the same one is there under another ``#if``."""
    for at, other in enumerate(kernels):
        if (other.key, other.symbol) == (row.key, row.symbol):
            both = dict.fromkeys((*other.definitions, *row.definitions))
            kernels[at] = replace(other, definitions=tuple(both))
            return
    kernels.append(row)


def _kernel(one: Written, facts: Facts) -> LibraryKernelRow:
    made, use = one.registration, one.use
    found, rule, reason = _definitions(one, facts)
    sure: Confidence = "by rule" if use.macro or made.kernel == "lambda" else "exact"
    kind: KernelKind = "composite" if made.key.startswith("Composite") else "plain"
    if not (found or made.fallthrough):
        kind = "missing"
    symbol = _symbol(made.kernel, next(iter(found), None))
    what = (made.key, symbol, use.location, made.rule, kind, sure, rule, reason)
    return LibraryKernelRow(*what, found)


def _symbol(kernel: str, found: Definition | None) -> str:
    """The kernel's name as written if that says which function it is, else the definition's."""
    if found is None or kernel == found.name or "::" in kernel:
        return kernel
    _, opened, given = kernel.partition("<")
    return f"{found.qualified if found.scope else found.name}{opened}{given}"


def _definitions(one: Written, facts: Facts) -> tuple[tuple[Definition, ...], str, str]:
    made, use = one.registration, one.use
    path = use.location.path
    if made.fallthrough:
        return (), made.rule, f"falls through to the next key, at {use.location}"
    if made.kernel == "lambda":
        found = _called_by_lambda(use.arguments, path, facts)
        rule = f"{made.rule}: a lambda, which calls this"
        return found, rule, "" if found else f"a lambda: its body is at {use.location}"
    single = kernel_definition(made.kernel, path, facts)
    reason = "" if single else f"{path} has no single definition of {made.kernel}"
    return (single,) if single else (), made.rule, reason


def _called_by_lambda(arguments: str, path: str, facts: Facts) -> tuple[Definition, ...]:
    """The overloads of the function that a lambda returns a call of, or else of its first call of
    one that is known."""
    body = arguments[arguments.find("{", arguments.find("[")) :]
    for name in dict.fromkeys((*_RETURNED.findall(body), *_CALLED.findall(body))):
        found = [one for one in visible(name, path, facts) if one.kind == "function"]
        if len(found) == 1 or {one.location.path for one in found} == {path}:
            return tuple(found)
    return ()


def names_in(uses: Iterable[LibraryUse]) -> Iterator[str]:
    """The names of functions that registrations may mean."""
    for use in uses:
        yield from _WORDS.findall(use.arguments)


_WORDS = regex(r"\b[A-Za-z_]\w+\b")


def library_kind(one: LibraryOperator) -> str:
    """The kind of such an operator in the operator list."""
    kernels = one.kernels
    if one.native.space == "higher_order::":
        return "higher order"
    if not kernels:
        return "no kernel"
    composite = all(one.key.startswith("Composite") for one in kernels)
    return "composite" if composite else "plain"
