"""The tests of a change, in tiers: a few to run now, the rest for CI."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexes.queries.changes.model import TestRun
from indexes.queries.operator_tests import NOW, Selection, Suite

if TYPE_CHECKING:
    from indexes.queries.gaps.tree import Tree


def operator_runs(tree: Tree, op: str, device: str = "cpu") -> tuple[TestRun, ...]:
    """The tests of an overload: those made from its OpInfos, then those written for it."""
    native = tree.index.native(op)
    if native is None:
        return ()
    tests = Suite(tree.index.facts).of(native, device)
    return tuple(run_of(one) for one in (*tests.files, *tests.named))


def run_of(one: Selection) -> TestRun:
    """The tests of one file that were selected."""
    return TestRun(one.command, one.path, one.rule)


def in_tiers(runs: tuple[TestRun, ...]) -> tuple[TestRun, ...]:
    """Each command once, the first of them to be run now."""
    once = {run.command: run for run in reversed(runs)}
    ordered = sorted(once.values(), key=runs.index)
    return tuple(replace(run, tier="now" if at < NOW else "ci") for at, run in enumerate(ordered))
