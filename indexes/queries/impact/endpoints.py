"""The Python names of the operators that ways lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from indexes.linking.python.paths import bindings, entries, place_of, skipping_rule
from indexes.model.impact import ReachedApi, ReachedOperator, Step
from indexes.model.vocabulary import Confidence, Location
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.walk import RANK
from indexes.store.registrations import StoredPython

_PUBLIC = ("functional", "method", "module", "alias")


def worst(first: Confidence, *others: Confidence) -> Confidence:
    """The weakest of some confidences."""
    return max((first, *others), key=lambda one: RANK[one])


def python_names(
    operators: Sequence[ReachedOperator], steps: Sequence[Step], facts: ImpactFacts
) -> tuple[ReachedApi, ...]:
    """The Python functions, methods and modules that lead to operators, or are reached."""
    found: dict[str, ReachedApi] = {}
    python = StoredPython(facts.store)
    for api in _functions(steps, facts):
        found.setdefault(api.name, api)
    for one in operators:
        for name, location, rule, confidence in _names(one, python, facts):
            sure = worst(one.confidence, confidence)
            before = found.get(name) or ReachedApi(name, location, rule, (), sure)
            if one.name not in before.operators:
                found[name] = replace(before, operators=(*before.operators, one.name))
    return tuple(found.values())


def _names(
    one: ReachedOperator, python: StoredPython, facts: ImpactFacts
) -> Iterator[tuple[str, Location | None, str, Confidence]]:
    native = facts.native(one.name)
    if native is None or ("generated" in native.tags and "view_copy" not in native.tags):
        return
    if skipping_rule(native, python):
        return
    paths = [binding.path for binding in bindings(native)]
    for path in paths:
        yield path, native.location, "the generated binding of its entry", "exact"
    names = list(paths)
    for entry in entries(paths, python):
        names.append(entry.name)
        yield entry.name, place_of(entry.found), f"returns what {entry.through} gives", "by rule"
    for name in names:
        for found in python.by_target(name):
            if found[1].kind == "module":
                yield found[1].symbol, place_of(found), f"forward calls {name}", "by rule"


def _functions(steps: Sequence[Step], facts: ImpactFacts) -> Iterator[ReachedApi]:
    """Public functions that are reached as Python code."""
    python = StoredPython(facts.store)
    for step in steps:
        where = step.location
        if step.kind == "python" and where is not None:
            rows = python.about(_PUBLIC, step.symbol, where)
            for symbol in dict.fromkeys(fact.symbol for fact in rows):
                rule = "its Python code is reached"
                yield ReachedApi(symbol, where, rule, (), step.way_confidence)
