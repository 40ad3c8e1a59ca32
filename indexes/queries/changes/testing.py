"""Plans of tests: where the nearest ones of an operator stand, and what they have."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.queries.changes.model import Change, ChangeStep, Neighbour, Parts
from indexes.queries.changes.neighbours import neighbour
from indexes.queries.changes.test_runs import operator_runs, run_of
from indexes.queries.gaps.tree import Tree
from indexes.queries.operator_tests import OperatorTests, Suite


def test(tree: Tree, change: Change) -> Parts:
    """A test of an operator, beside the nearest one."""
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
