"""The part of a chain about autograd: entry, Node class, formulas and what they call."""

from __future__ import annotations

from indexes.linking.formulas import FormulaFunction, formula_functions
from indexes.linking.hops import HopList
from indexes.model.vocabulary import DerivativeEntry, NativeFunction
from indexes.source.source import Source
from indexes.store.lookup import Lookup


def add_derivative(
    native: NativeFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    """Adds the derivative entry, its formulas and the functions they call."""
    entry, rule, nodes = facts.derived(native.full_name)
    if entry is None:
        hops.miss(parent, "derivative", native.full_name, _why_none(native, rule, facts))
        return
    exact = entry.op == native.full_name
    number = hops.add(
        parent,
        "derivative",
        entry.op,
        entry.location,
        rule,
        "exact" if exact else "by rule",
        note=", ".join(nodes.values()),
    )
    formulas = _add_formulas(entry, number, hops)
    for function in formula_functions(entry, facts):
        _add_function(function, formulas[function.formula.location.line], facts, hops, source)


def _why_none(native: NativeFunction, rule: str, facts: Lookup) -> str:
    if any(r.key == "CompositeImplicitAutograd" for r in facts.kernels(native.full_name)):
        return f"{rule}: CompositeImplicitAutograd, autograd records the operators it calls"
    return rule


def _add_formulas(entry: DerivativeEntry, parent: int, hops: HopList) -> dict[int, int]:
    """Adds a hop for each formula; returns them by line."""
    added = {}
    for one in entry.sets:
        for formula in one.formulas:
            inputs = ", ".join(formula.inputs)
            added[formula.location.line] = hops.add(
                parent,
                "derivative",
                f"{inputs}: {formula.text}",
                formula.location,
                f"{formula.kind} formula for {inputs}",
                "exact",
                keys=() if one.key == "Default" else (one.key,),
            )
    return added


def _add_function(
    function: FormulaFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    evidence = [function.formula.location]
    if function.definition:
        rule = "called in the formula"
        if function.candidates > 1:
            rule += f"; one of {function.candidates} overloads, the argument types decide"
        hops.add_definition(
            parent,
            "formula_function",
            function.definition,
            rule,
            "exact" if function.candidates == 1 else "ambiguous",
            evidence=evidence,
        )
    elif function.operator:
        native = facts.overloads(function.operator)[0]
        hops.add(
            parent,
            "call",
            function.name,
            native.location,
            "an operator called in the formula",
            "by rule",
            evidence=evidence,
        )
    else:
        hops.miss(parent, "formula_function", function.name, _why_not_found(source))


def _why_not_found(source: Source) -> str:
    if source.locate("FunctionsManual.cpp"):
        return "no function of that name in the scopes that the formulas see"
    return "FunctionsManual.cpp is not in this source; `torchnav clone` adds it"
