"""Tests of a change in tiers: a few to run now, the rest for CI; and plans of tests beside an
operator's nearest ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from indexes.model.files import module_name
from indexes.model.regex import regex
from indexes.queries.changes.model import Change, ChangeStep, Neighbour, Parts, TestRun
from indexes.queries.changes.related import neighbour
from indexes.queries.contribution.tiers import in_order
from indexes.queries.gaps.kernels.dependents import needing
from indexes.queries.gaps.tree import Tree
from indexes.queries.operator_tests import NOW, OperatorTests, Selection, Suite
from indexes.queries.test_mentions import with_mentions


def operator_runs(tree: Tree, op: str, device: str = "cpu") -> tuple[TestRun, ...]:
    """The tests of an overload; without OpInfo also those of operators that need it."""
    tests = covering(tree, op, device)
    others = (covering(tree, one, device) for one in (() if tests.opinfos else needing(tree, op)))
    return tuple(run_of(s) for one in (tests, *others) for s in in_order(one))


def covering(tree: Tree, op: str, device: str = "cpu") -> OperatorTests:
    """The tests of an overload, and the files that use its public names most."""
    native = tree.index.native(op)
    if native is None:
        return OperatorTests((), (), ())
    found = Suite(tree.index.facts).of(native, device)
    return with_mentions(found, native, sorted(tree.names(op)), tree.mentions)


def run_of(one: Selection) -> TestRun:
    return TestRun(one.command, one.path, one.rule)


def importing(tree: Tree, path: str, most: int) -> Iterator[TestRun]:
    """The test files that import a module, whose functions they test by hand."""
    module = module_name(path)
    package, _, last = module.rpartition(".")
    own, of_package = (re.escape(one) for one in (module, package))
    line = rf"^\s*(?:import {own}|from {own} import|from {of_package} import .*\b{last})\b"
    imports = regex(line.encode(), re.MULTILINE)
    files = tree.corpus.files_with(last, "test", lambda one: one.startswith("test/"))
    for test in islice((one for one in files if imports.search(tree.corpus.text(one))), most):
        yield TestRun(f"python {test}", test, f"it imports {module}")


def in_tiers(runs: tuple[TestRun, ...]) -> tuple[TestRun, ...]:
    """Each command once, the first of them to run now; whole files only if nothing selects
    tests."""
    once = {run.command: run for run in reversed(runs)}
    ordered = sorted(once.values(), key=lambda run: (_is_whole(run), runs.index(run)))
    now = [one for one in ordered if _is_whole(one) == _is_whole(ordered[0])][:NOW]
    return tuple(replace(run, tier="now" if run in now else "ci") for run in ordered)


def _is_whole(run: TestRun) -> bool:
    return run.command.endswith(".py")


def test(tree: Tree, change: Change) -> Parts:
    native = tree.natives.get(change.op or "")
    if native is None:
        hits = tree.index.meant(change.name).hits
        where = change.gap.location if change.gap else hits[0].location
        what = f"See what {change.name} does; no test is known by its name."
        return Parts((ChangeStep("read", where, what, why=change.why),))
    tests = Suite(tree.index.facts).of(native)
    named = [run_of(one) for one in tests.named]
    return Parts(
        tuple(_steps(change, tests)),
        tuple(_neighbours(tree, tests)),
        (*named, *operator_runs(tree, native.full_name)),
        () if tests.named else (f"no test of this tree is written for {change.name} by hand",),
        f"test of {change.name}",
    )


def _steps(change: Change, tests: OperatorTests) -> Iterator[ChangeStep]:
    for one in tests.named[:1]:
        where = one.tests[0]
        yield ChangeStep("add", where, f"Add the test beside {one.names[0]}.", why=one.rule)
    for entry in tests.opinfos[:1]:
        what = f"Inputs that all tests of {change.name} take belong in its OpInfo, {entry.name}."
        yield ChangeStep("read" if tests.named else "edit", entry.location, what)


def _neighbours(tree: Tree, tests: OperatorTests) -> Iterator[Neighbour]:
    for one in tests.named[:1]:
        where = one.tests[0]
        yield neighbour(tree, one.names[0], one.rule, where)
