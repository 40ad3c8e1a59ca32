"""The tests of a change, in tiers: a few to run now, the rest for CI."""

from __future__ import annotations

from dataclasses import replace

from indexes.queries.changes.model import TestRun
from indexes.queries.gaps.tree import Tree
from indexes.queries.operator_tests import NOW, OperatorTests, Selection, Suite
from indexes.queries.test_mentions import with_mentions


def operator_runs(tree: Tree, op: str, device: str = "cpu") -> tuple[TestRun, ...]:
    """The tests of an overload: those made from its OpInfos, then those written for it."""
    tests = covering(tree, op, device)
    return tuple(run_of(one) for one in (*tests.files, *tests.named))


def covering(tree: Tree, op: str, device: str = "cpu") -> OperatorTests:
    """The tests of an overload, and the files that write its public names most."""
    native = tree.index.native(op)
    if native is None:
        return OperatorTests((), (), ())
    found = Suite(tree.index.facts).of(native, device)
    return with_mentions(found, native, sorted(tree.names(op)), tree.mentions)


def run_of(one: Selection) -> TestRun:
    """The tests of one file that were selected."""
    return TestRun(one.command, one.path, one.rule)


def in_tiers(runs: tuple[TestRun, ...]) -> tuple[TestRun, ...]:
    """Each command once, the first of them to be run now: whole files only where nothing selects
    tests."""
    once = {run.command: run for run in reversed(runs)}
    ordered = sorted(once.values(), key=lambda run: (_is_whole(run), runs.index(run)))
    now = [one for one in ordered if _is_whole(one) == _is_whole(ordered[0])][:NOW]
    return tuple(replace(run, tier="now" if run in now else "ci") for run in ordered)


def _is_whole(run: TestRun) -> bool:
    return run.command.endswith(".py")
