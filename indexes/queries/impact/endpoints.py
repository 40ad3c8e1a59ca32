"""What stands at the end of the ways: Python names of the operators reached, and tests to run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from indexes.linking.python.paths import bindings, entries, skipping_rule
from indexes.linking.python.test_expressions import named_expression
from indexes.model.impact import ReachedApi, ReachedOperator, Step, TestCommand
from indexes.model.vocabulary import Confidence, Location
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.walk import RANK
from indexes.queries.operator_tests import Suite
from indexes.source.source import Source
from indexes.store.python_rows import StoredPython, tests_in

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
            before = found.get(name)
            if before is None:
                found[name] = ReachedApi(name, location, rule, (one.name,), sure)
            elif one.name not in before.operators:
                listed = (*before.operators, one.name)
                found[name] = ReachedApi(
                    name, before.location, before.rule, listed, before.confidence
                )
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
        where = Location(entry.found[0], entry.found[1].line, entry.found[1].end_line)
        names.append(entry.name)
        yield entry.name, where, f"returns what {entry.through} gives", "by rule"
    for name in names:
        for path, fact in python.by_target(name):
            if fact.kind == "module":
                where = Location(path, fact.line, fact.end_line)
                yield fact.symbol, where, f"forward calls {name}", "by rule"


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
    source: Source,
    unresolved: list[str],
    most: int | None,
) -> tuple[TestCommand, ...]:
    """Commands that run the tests of the operators reached, those of the surest first; of at
    most so many operators, and how many more there are goes to ``unresolved``."""
    found: dict[str, TestCommand] = {}
    for command in _reached_tests(steps, facts):
        found.setdefault(command.command, command)
    ranks = dict.fromkeys(found, 0)
    suite = Suite(source, facts)
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
            before = found.get(selection.command)
            names = (*before.operators, one.name) if before else (one.name,)
            found[selection.command] = TestCommand(
                selection.command,
                selection.path,
                before.reason if before else reason,
                names,
                sure,
                len(selection.tests),
            )
            ranks.setdefault(selection.command, 1 if kind == _OPINFO else 2)
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
        expression = named_expression(cls, name, others, path)
        runner = "pytest" if expression.runner == "pytest" else "python"
        yield TestCommand(
            shlex.join([runner, path, *expression.arguments]),
            path,
            "it calls what is reached" if step.parent is not None else "it changes",
            (),
            step.way_confidence,
            1,
        )


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
