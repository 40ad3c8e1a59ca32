"""What stands at the end of the ways: Python names of the operators reached, and tests to run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from indexes.linking.python.paths import bindings, entries, place_of, skipping_rule
from indexes.linking.python.test_expressions import named_expression
from indexes.model.impact import ReachedApi, ReachedOperator, Step, TestCommand
from indexes.model.vocabulary import Confidence, Location
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.walk import RANK
from indexes.queries.operator_tests import Suite
from indexes.store.registrations import StoredPython, tests_in

MAX_TESTED = 6
"""Operators whose tests are listed, unless all are asked for: each takes about 0.1 s."""
_OPINFO, _NAMED = "OpInfo tests", "a test named after it"
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


# --------------------------------------------------------------------------------- tests


def tests_of(
    operators: Sequence[ReachedOperator],
    steps: Sequence[Step],
    facts: ImpactFacts,
    unresolved: list[str],
    most: int | None,
) -> tuple[TestCommand, ...]:
    """Commands that run the tests of the operators reached, those of the surest first; of at
    most so many operators, and how many more there are goes to ``unresolved``."""
    found = {one.command: one for one in _reached_tests(steps, facts)}
    ranks = dict.fromkeys(found, 0)
    suite = Suite(facts)
    for one in _tested(operators, facts, unresolved, most):
        native = facts.native(one.name)
        assert native
        tests = suite.of(native)
        if tests.missing and tests.missing not in unresolved:
            unresolved.append(tests.missing)
        confident = (*((t, _OPINFO) for t in tests.files), *((t, _NAMED) for t in tests.named))
        for selection, kind in confident:
            sure = one.confidence if kind == _OPINFO else worst(one.confidence, "by rule")
            reason = f"{kind} of {native.name}, reached by its {', '.join(one.aspects)}"
            command, path, count = selection.command, selection.path, len(selection.tests)
            before = found.get(command) or TestCommand(command, path, reason, (), sure, count)
            names = (*before.operators, one.name)
            found[command] = replace(before, operators=names, confidence=sure, tests=count)
            ranks.setdefault(command, 1 if kind == _OPINFO else 2)
    return tuple(sorted(found.values(), key=lambda one: (RANK[one.confidence], ranks[one.command])))


def _reached_tests(steps: Sequence[Step], facts: ImpactFacts) -> Iterator[TestCommand]:
    """Tests of which a step says that they call what changes."""
    for step in steps:
        if step.kind != "test" or step.location is None:
            continue
        path = step.location.path
        cls, _, name = ".".join(step.symbol.split(".")[-2:]).rpartition(".")
        others = [
            (c, n) for c, _, n in (t.symbol.rpartition(".") for t in tests_in(facts.store, path))
        ]
        command = named_expression(cls, name, others, path).command(path)
        reason = "it calls what is reached" if step.parent is not None else "it changes"
        yield TestCommand(command, path, reason, (), step.way_confidence, 1)


def _tested(
    operators: Sequence[ReachedOperator],
    facts: ImpactFacts,
    unresolved: list[str],
    most: int | None,
) -> list[ReachedOperator]:
    """One overload for each operator that has OpInfos, the surest and nearest first."""
    python = StoredPython(facts.store)
    chosen: dict[str, ReachedOperator] = {}
    for one in operators:
        native = facts.native(one.name)
        base = native.name.rstrip("_") if native else ""
        near = one.dispatches == 0 or not chosen or not _any_opinfo(chosen, python)
        if base and base not in chosen and near:
            chosen[base] = one
    if most is not None and len(chosen) > most:
        unresolved.append(
            f"tests of {len(chosen) - most} more operators are not listed: --all lists them,"
            " torchnav contribute OP those of one"
        )
    return list(chosen.values())[:most]


def _any_opinfo(names: dict[str, ReachedOperator], python: StoredPython) -> bool:
    return any(
        fact.kind == "opinfo" for name in names for _, fact in python.by_target(f"aten::{name}")
    )
