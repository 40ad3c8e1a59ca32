"""What the formulas of derivatives.yaml call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from indexes.codegen.cpp_types import native_parameters
from indexes.linking.arguments import Returned, chosen, fitting, mark_of_result, operator_base
from indexes.linking.facts import Call, Edge, Facts, Known
from indexes.model.regex import regex
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import (
    Confidence,
    Definition,
    DerivativeEntry,
    Formula,
    NativeFunction,
)
from indexes.readers.cxx.sites import Reader, Text

_CALL = regex(
    r"(?P<member>\.|->)?\s*(?P<name>(?:[A-Za-z_]\w*\s*::\s*)*[A-Za-z_]\w*)\s*"
    r"(?:<(?:[^<>()]|<[^<>()]*>)*>)?\s*\("
)
_STRING = regex(r'"(?:\\.|[^"\\])*"')
_NO_CALLS = frozenset(
    {"if", "for", "while", "switch", "return", "sizeof", "static_cast", "const_cast"}
    | {"reinterpret_cast", "dynamic_cast", "decltype", "not", "and", "or"}
)
_OWN_SCOPES = (
    "torch::autograd::generated::details",
    "torch::autograd::generated",
    "torch::autograd",
    "torch",
)
"""Scopes in which the generated Functions.cpp finds a name before it means an operator."""
_OTHER_SCOPES = ("at", "c10", "at::native", "")


def formula_calls(text: str) -> tuple[str, ...]:
    """The free functions and constructors that a formula calls, in order, with qualifiers."""
    calls = (found for found in _CALL.finditer(_STRING.sub('""', text)) if not found["member"])
    names = dict.fromkeys("".join(found["name"].split()) for found in calls)
    return tuple(name for name in names if name not in _NO_CALLS)


@dataclass(frozen=True, slots=True)
class FormulaFunction:
    """A function in a formula: a definition, an operator, or neither if not found."""

    name: str
    formula: Formula
    definition: Definition | None
    operator: str | None = None
    candidates: int = 1


def formula_functions(entry: DerivativeEntry, facts: Facts) -> list[FormulaFunction]:
    """Every function in an entry's formulas, each name once."""
    found: dict[tuple[str, int, str], FormulaFunction] = {}
    for one in entry.sets:
        for formula in one.formulas:
            for name in formula_calls(formula.text):
                for function in _meant(name, formula, entry, facts):
                    place = str(function.definition.location) if function.definition else ""
                    found.setdefault((name, formula.location.line, place), function)
    return list(found.values())


def _meant(
    name: str, formula: Formula, entry: DerivativeEntry, facts: Facts
) -> list[FormulaFunction]:
    simple = name.rpartition("::")[2]
    native, returned = facts.native(entry.op), partial(mark_of_result, facts)
    definitions = _definitions(name, simple, facts)
    if definitions:
        definitions = chosen_overloads(formula.text, name, definitions, native, returned)
        count = len(definitions)
        return [FormulaFunction(name, formula, d, None, count) for d in definitions]
    if name.startswith("std::"):
        return []
    base = simple.removesuffix("_symint").removesuffix("_out")
    if facts.overloads(base):
        return [FormulaFunction(name, formula, None, base)]
    if facts.is_type(simple):
        return []  # a constructor
    others = _in_scopes(name, (*_OWN_SCOPES, *_OTHER_SCOPES), facts) or _nominated(name, facts)
    if others:
        others = chosen_overloads(formula.text, name, others, native, returned)
        return [FormulaFunction(name, formula, d, None, len(others)) for d in others]
    return [FormulaFunction(name, formula, None)]


def _definitions(name: str, simple: str, facts: Facts) -> Sequence[Definition]:
    known = [k.definition for k in facts.named(simple) if k.definition.kind == "function"]
    wanted = name.rpartition("::")[0]
    manual = [d for d in known if "FunctionsManual" in d.location.path]
    if manual and (not wanted or any(d.scope.endswith(wanted) for d in manual)):
        return manual
    return _in_scopes(simple, _OWN_SCOPES, facts)


def _in_scopes(name: str, scopes: Sequence[str], facts: Facts) -> list[Definition]:
    """The functions in the first scope that has any, or in a class of it:
    ``GradMode::is_enabled``."""
    within, _, simple = name.rpartition("::")
    known = [k.definition for k in facts.named(simple) if k.definition.kind == "function"]
    for scope in scopes:
        wanted = "::".join(filter(None, (scope, within)))
        if found := [d for d in known if d.scope == wanted]:
            return found
    return []


def _nominated(name: str, facts: Facts) -> list[Definition]:
    """Functions that ``at::f`` means because a header says ``using namespace`` in ``at``."""
    within, _, simple = name.rpartition("::")
    scopes = facts.nominated(within) if within else ()
    return _in_scopes(simple, scopes, facts)


# ------------------------------------------------------------------------------ overloads

_TENSORS = regex(r"\b(?:grad\w*|results?\d*|\w+_[pt]|original_self\w*)\b")


def chosen_overloads(
    text: str,
    name: str,
    overloads: Sequence[Definition],
    native: NativeFunction | None,
    returned: Returned,
) -> list[Definition]:
    """The overloads that the calls of ``name`` in a formula can mean."""
    simple, among = name.rpartition("::")[2], [Known(0, one) for one in overloads]
    calls = [one for one in calls_in(text, native) if one.name == simple]
    found = [known.definition for call in calls for known in chosen(call, among, returned)]
    return list(dict.fromkeys(found)) or list(overloads)


def calls_in(text: str, native: NativeFunction | None) -> Sequence[Call]:
    """The calls of a formula, with the operator's arguments, results and gradients as
    parameters."""
    return _calls_in(text, ", ".join(_parameters(text, native)))


@lru_cache(256)
def _calls_in(text: str, parameters: str) -> Sequence[Call]:
    plain = _STRING.sub(lambda found: '""'.ljust(len(found[0])), text)
    return Reader(Text(plain, text, lambda _: 1)).read(0, len(text), parameters).calls


def _parameters(text: str, native: NativeFunction | None) -> Iterator[str]:
    declared = dict(_declared(native)) if native else {}
    for name in dict.fromkeys(_TENSORS.findall(text)):
        declared.setdefault(name, "ArrayRef<Tensor>" if name == "grads" else "Tensor")
    return (f"{type_} {name}" for name, type_ in declared.items())


def _declared(native: NativeFunction) -> Iterator[tuple[str, str]]:
    schema = parse_schema(native.schema)
    names = [argument.name for argument in schema.arguments]
    yield from zip(names, native_parameters(native, symint=False), strict=True)
    for place, one in enumerate(schema.returns):
        many = "ArrayRef<Tensor>" if one.type.endswith("]") else "Tensor"
        for name in filter(None, (one.name, f"result{place}", "" if place else "result")):
            yield name, many


def formula_edges(caller: int, entry: DerivativeEntry, facts: Facts) -> list[Edge]:
    """The edges of an entry's formulas."""
    edges: list[Edge] = []
    operators: set[tuple[str, int]] = set()
    for function in formula_functions(entry, facts):
        line, several = function.formula.location.line, function.candidates > 1
        sure: Confidence = "ambiguous" if several else "exact"
        if function.definition:
            if known := facts.known(function.definition):
                what = (function.name, known.id, sure, function.candidates)
                edges.append(Edge(caller, line, "call", *what))
        elif function.operator:
            operators.add((function.name.rpartition("::")[2], line))
    native = facts.native(entry.op)
    for formula in (one for each in entry.sets for one in each.formulas):
        line = formula.location.line
        for call in calls_in(formula.text, native):
            if call.kind == "member" or (call.name, line) in operators:
                edges += _formula_operator(caller, line, call, facts)
    return list(dict.fromkeys(edges))


def _formula_operator(caller: int, line: int, call: Call, facts: Facts) -> Iterator[Edge]:
    name = f"{call.qualifier}::{call.name}" if call.qualifier else call.name
    call = call._replace(qualifier="at")
    found = fitting(call, facts.overloads(operator_base(call)), partial(mark_of_result, facts))
    sure: Confidence = "exact" if len(found) == 1 else "ambiguous"
    for one in found:
        yield Edge(caller, line, "operator", name, one.full_name, sure, len(found))
