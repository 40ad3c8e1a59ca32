"""From a derivative formula to the functions and operators it calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexes.linking.facts import Facts
from indexes.linking.formula_overloads import chosen_overloads
from indexes.model.vocabulary import Definition, DerivativeEntry, Formula
from indexes.readers.yaml.formulas import formula_calls

_OWN_SCOPES = (
    "torch::autograd::generated::details",
    "torch::autograd::generated",
    "torch::autograd",
    "torch",
)
"""Where the generated Functions.cpp looks a name up before it means an operator."""
_OTHER_SCOPES = ("at", "c10", "at::native", "")


@dataclass(frozen=True, slots=True)
class FormulaFunction:
    """A function that a formula calls: a definition, an operator, or neither when not found."""

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
    definitions = _definitions(name, simple, facts)
    if definitions:
        native = facts.native(entry.op) if len(definitions) > 1 else None
        definitions = chosen_overloads(formula.text, name, definitions, native)
        count = len(definitions)
        return [FormulaFunction(name, formula, d, None, count) for d in definitions]
    base = simple.removesuffix("_symint").removesuffix("_out")
    if facts.overloads(base):
        return [FormulaFunction(name, formula, None, base)]
    if name.startswith("std::") or facts.is_type(simple):
        return []  # the standard library, or a constructor
    others = _in_scopes(name, (*_OWN_SCOPES, *_OTHER_SCOPES), facts) or _nominated(name, facts)
    if others:
        others = chosen_overloads(formula.text, name, others, facts.native(entry.op))
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
    """The functions of the first of ``scopes`` that has any; ``GradMode::is_enabled`` is a
    function of the class in one of them."""
    within, _, simple = name.rpartition("::")
    known = [k.definition for k in facts.named(simple) if k.definition.kind == "function"]
    for scope in scopes:
        wanted = "::".join(filter(None, (scope, within)))
        if found := [d for d in known if d.scope == wanted]:
            return found
    return []


def _nominated(name: str, facts: Facts) -> list[Definition]:
    """``at::f`` of a namespace that a header opens in ``at`` by ``using namespace``."""
    within, _, simple = name.rpartition("::")
    scopes = facts.nominated(within) if within else ()
    return _in_scopes(simple, scopes, facts)
