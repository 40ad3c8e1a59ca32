"""Operators that Python defines, and Python registrations for operators outside the YAML:
``torch.library``, ``custom_op``, ``Library.define`` and ``impl``, ``_make_prim``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from indexes.linking.library_operators import (
    LibraryKernelRow,
    LibraryOperator,
    keep_kernel,
    unwritten_schema,
)
from indexes.linking.python.paths import Found, bindings
from indexes.linking.registrations import EXPLICIT, REFUSES, full_name, python_keys
from indexes.model.files import PythonFact, canonical, unpack
from indexes.model.lines import grouped
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Location, NativeFunction, Problem

HIGHER_ORDER = "HigherOrderOperator"
KINDS = ("operator", "py_impl", "meta_registration", "fake_impl", "autograd_impl", "vmap_impl")
_RULES = {
    "operator": "the function that custom_op makes an operator",
    "py_impl": "torch.library.impl, or py_impl",
    "meta_registration": "register_meta, or an impl for the Meta key",
    "fake_impl": "torch.library.register_fake",
    "autograd_impl": "torch.library.register_autograd",
    "vmap_impl": "torch.library.register_vmap",
}


def define_from_python(
    operators: dict[str, LibraryOperator], rows: Iterable[Found], known: Mapping[str, object]
) -> list[Problem]:
    """Adds the operators that Python files define, except known ones."""
    problems = []
    for path, fact in rows:
        op = full_name(fact.target)
        if fact.kind != "operator" or op in known or op in operators:
            continue
        try:
            operators[op] = LibraryOperator(_native(path, fact, op))
        except ValueError as error:
            problems.append(Problem(path, fact.line, f"the definition of {op}: {error}"))
    return problems


def _native(path: str, fact: PythonFact, op: str) -> NativeFunction:
    detail = unpack(fact.detail)
    base, _, overload = op.partition(".")
    body = detail.get("schema", "").partition("(")[2].strip()
    schema = f"{op}({body}".replace(" )", ")") if body else unwritten_schema(op)
    parse_schema(schema)
    return NativeFunction(
        name=base,
        overload=overload,
        schema=schema,
        location=Location(path, fact.line, fact.end_line),
        field_lines={"func": fact.line},
        dispatch=(),
        variants=(),
        defined_by=_defined_by(path, detail),
    )


def _defined_by(path: str, detail: Mapping[str, str]) -> str:
    text = detail.get("through") or detail.get("note") or "custom_op"
    line = detail.get("def") or detail.get("at")
    parts = [f"{text} in {path}" + (f" at line {line}" if line else "")]
    parts += [f"through {detail['by']}"] if "by" in detail else []
    parts += ["which has no schema"] if text == HIGHER_ORDER else []
    parts += ["its schema follows from the annotations"] if "inferred" in detail else []
    parts += [f"if {detail['when']}"] if "when" in detail else []
    return ", ".join(parts)


def add_python_kernels(
    operators: Mapping[str, LibraryOperator],
    rows: Iterable[Found],
    bound: Mapping[str, Sequence[NativeFunction]],
) -> None:
    """Adds the kernels of Python files; ``bound``: the operators by Python name."""
    for path, fact in rows:
        for op in _meant(fact.target, operators):
            operator = operators[op]
            for row in _kernels(path, fact, operator.native, bound):
                keep_kernel(operator.kernels, row)


def _meant(target: str, operators: Mapping[str, LibraryOperator]) -> Iterator[str]:
    """The overloads of a row: one, or all of a name."""
    op = full_name(target)
    if op in operators:
        yield op
    if "." not in target:
        others = [name for name in operators if name.startswith(f"{op}.")]
        yield from others


def _kernels(
    path: str,
    fact: PythonFact,
    native: NativeFunction,
    bound: Mapping[str, Sequence[NativeFunction]],
) -> Iterator[LibraryKernelRow]:
    detail = unpack(fact.detail)
    where = Location(path, int(detail.get("def", fact.line)))
    rule = _RULES[fact.kind] + (f"; only if {detail['when']}" if "when" in detail else "")
    if fact.kind == "operator" and "through" in detail:
        yield from _of_prim(path, fact, native, bound)
        return
    for key in python_keys(fact, detail):
        yield _row(key, fact.symbol, where, rule)


def _of_prim(
    path: str,
    fact: PythonFact,
    native: NativeFunction,
    bound: Mapping[str, Sequence[NativeFunction]],
) -> Iterator[LibraryKernelRow]:
    """The eager implementation of a prim: a function of PyTorch, or one in the same file."""
    detail = unpack(fact.detail)
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    rule = "impl_aten: what _make_prim runs for tensors"
    if detail["through"] == "_make_prim" and not _takes_tensors(native):
        selects = "_make_prim: takes no tensor, so that its arguments tell the device"
        yield _row("BackendSelect", f"{module}.{native.name}", Location(path, fact.line), selects)
    if detail["through"] == "_make_prim":
        yield _row("Autograd", f"{module}._make_prim", Location(path, fact.line), REFUSES)
    if "fake" in detail:
        name, _, line = detail["fake"].partition("@")
        meta = "meta: what _make_prim runs for tensors without data"
        yield _row("Meta", f"{module}.{name}", Location(path, int(line)), meta)
    if "runs" in detail:
        name, _, line = detail["runs"].partition("@")
        yield _row(EXPLICIT, f"{module}.{name}", Location(path, int(line)), rule)
    elif "calls" in detail:
        called = _overload_like(native, bound.get(canonical(detail["calls"]), ()))
        row = _row(EXPLICIT, detail["calls"], Location(path, fact.line), rule)
        yield replace(row, calls=called, confidence="by rule")


def _takes_tensors(native: NativeFunction) -> bool:
    arguments = parse_schema(native.schema).arguments
    return any(one.base_type == "Tensor" for one in arguments)


def _row(key: str, symbol: str, where: Location, rule: str) -> LibraryKernelRow:
    return LibraryKernelRow(key, symbol, where, rule, "python", "exact", rule, "")


def _overload_like(native: NativeFunction, among: Sequence[NativeFunction]) -> str:
    """The overload whose required arguments are most like another operator's."""
    wanted = _types(native)

    def unlike(one: NativeFunction) -> tuple[bool, int, bool]:
        types = _types(one)
        differing = sum(a != b for a, b in zip(types, wanted, strict=False))
        generated = "generated" in one.tags
        is_out = "out" in one.overload
        return is_out, differing + abs(len(types) - len(wanted)), generated

    return min(among, key=unlike).full_name if among else ""


def _types(native: NativeFunction) -> list[str]:
    arguments = parse_schema(native.schema).arguments
    return [one.type for one in arguments if one.default is None and not one.is_out]


def bound_operators(natives: Iterable[NativeFunction]) -> dict[str, list[NativeFunction]]:
    """The operators by public names of their bindings: ``torch.special.i0e``."""
    bound = ((one, binding.path) for one in natives for binding in bindings(one))
    return grouped((name, one) for one, path in bound for name in _public(path))


def _public(path: str) -> Iterator[str]:
    """``torch.special.i0e`` for ``torch._C._special.special_i0e``."""
    yield path
    module, _, name = path.removeprefix("torch._C._").rpartition(".")
    if module and path.startswith("torch._C._"):
        yield f"torch.{module}.{name.removeprefix(f'{module}_')}"
