"""What stands beside the kernels of an operator: its derivative, with the formulas and what they
call; Python's entry points, docs, decompositions, OpInfo, tests and owners; batch rules and
autocast policies."""

from __future__ import annotations

from indexes.linking.facts import HopList, Link
from indexes.linking.overloads import FormulaFunction, formula_functions
from indexes.linking.python.around import around, owners
from indexes.linking.registrations import around_dispatch
from indexes.model.errors import SourceError
from indexes.model.vocabulary import Confidence, DerivativeEntry, NativeFunction
from indexes.readers.project.codeowners_file import read_codeowners
from indexes.source.source import Source
from indexes.store.lookup import Lookup
from indexes.store.registrations import UNSEEN, StoredPython, written_for

MAX_TESTS = 40


def add_derivative(
    native: NativeFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    """Adds the derivative entry, its formulas and the functions they call."""
    entry, rule, nodes = facts.derived(native.full_name)
    if entry is None:
        hops.miss(parent, "derivative", native.full_name, _why_none(native, rule, facts))
        return
    sure: Confidence = "exact" if entry.op == native.full_name else "by rule"
    what = (entry.op, entry.location, rule, sure)
    number = hops.add(parent, "derivative", *what, note=", ".join(nodes.values()))
    formulas = _add_formulas(in_names_of(native, entry), number, hops)
    for function in formula_functions(entry, facts):
        if parent_of := formulas.get(function.formula.location.line):
            _add_function(function, parent_of, facts, hops, source)


def in_names_of(native: NativeFunction, entry: DerivativeEntry) -> DerivativeEntry:
    """An entry as it is for an operator: foreach operators have formulas in their own names."""
    if not native.name.startswith("_foreach_"):
        return entry
    from indexes.codegen.foreach import repeated

    return repeated(entry, native)


def _why_none(native: NativeFunction, rule: str, facts: Lookup) -> str:
    if any(r.key == "CompositeImplicitAutograd" for r in facts.kernels(native.full_name)):
        return f"{rule}: CompositeImplicitAutograd, autograd records the operators it calls"
    return rule


def _add_formulas(entry: DerivativeEntry, parent: int, hops: HopList) -> dict[int, int]:
    """Adds a hop for each formula; returns them by line."""
    added = {}
    for one in entry.sets:
        keys = () if one.key == "Default" else (one.key,)
        for formula in one.formulas:
            inputs, where = ", ".join(formula.inputs), formula.location
            text, rule = f"{inputs}: {formula.text}", f"{formula.kind} formula for {inputs}"
            added[where.line] = hops.add(parent, "derivative", text, where, rule, keys=keys)
    return added


def _add_function(
    function: FormulaFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    name, evidence = function.name, [function.formula.location]
    if found := function.definition:
        rule, several = "called in the formula", function.candidates > 1
        if several:
            rule += f"; one of {function.candidates} overloads, the argument types decide"
        sure: Confidence = "ambiguous" if several else "exact"
        hops.add_definition(parent, "formula_function", found, rule, sure, evidence=evidence)
    elif function.operator:
        where = facts.overloads(function.operator)[0].location
        rule = "an operator called in the formula"
        hops.add(parent, "call", name, where, rule, "by rule", evidence=evidence)
    else:
        hops.miss(parent, "formula_function", name, _why_not_found(source))


def _why_not_found(source: Source) -> str:
    if source.locate("FunctionsManual.cpp"):
        return "no function of that name in the scopes that the formulas see"
    return "FunctionsManual.cpp is not in this source; `torchnav clone` adds it"


# ----------------------------------------------------------------------------- around it


def add_around(
    native: NativeFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    """Adds what stands around an overload in Python, its batch rules and autocast policies, and
    who owns its kernels' files."""

    def read(path: str) -> bytes | None:
        try:
            return source.read(path)
        except SourceError:
            return None

    links = around(native, StoredPython(facts.store), read)
    tests = [link for link in links if link.role == "test"]
    for link in [link for link in links if link.role != "test"] + tests[:MAX_TESTS]:
        _add(link, parent, hops)
    if len(tests) > MAX_TESTS:
        reason = f"{len(tests) - MAX_TESTS} more tests name it: `torchnav uses` lists them"
        hops.miss(parent, "test", native.full_name, reason)
    if source.kind == "wheel":
        hops.miss(parent, "batch_rule", native.full_name, UNSEEN)
    for link in around_dispatch(native.full_name, written_for(facts, native.full_name), facts):
        _add(link, parent, hops)
    _add_owners(native, parent, facts, hops, source)


def _add(link: Link, parent: int, hops: HopList) -> None:
    what, how, places = (link.symbol, link.location), (link.rule, link.confidence), link.evidence
    hops.add(parent, link.role, *what, *how, keys=link.keys, evidence=places, note=link.note)


def _add_owners(
    native: NativeFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    path = source.locate("CODEOWNERS")
    if path is None:
        return
    rules, _ = read_codeowners(source.read(path), path)
    rows = facts.kernels(native.full_name)
    files = dict.fromkeys(d.location.path for r in rows for d in r.definitions)
    for link in owners([native.location.path, *files], rules, path):
        _add(link, parent, hops)
