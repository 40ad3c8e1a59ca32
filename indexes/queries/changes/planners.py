"""The planner of each kind of change.

A new kind is a module with a planner and a row in ``PLANNERS``. A kind without a planner gets a
plain plan of the place that shows its gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from indexes.model.vocabulary import Location
from indexes.queries.changes import (
    batching,
    dtypes,
    error_messages,
    formulas,
    kernels,
    structured,
    test_runs,
)
from indexes.queries.changes.formula_tests import FORWARD, REVERSE
from indexes.queries.changes.model import Change, ChangeStep, Parts, Planner, TestRun
from indexes.queries.changes.python import arguments, docs, opinfo, rows, rules
from indexes.queries.changes.test_runs import operator_runs, run_of
from indexes.queries.gaps.tree import Tree
from indexes.queries.operator_tests import Suite

PLANNERS: Mapping[str, Planner] = {
    "kernel": kernels.plan,
    "dtype": dtypes.plan,
    "derivative": formulas.planner(REVERSE),
    "forward-mode": formulas.planner(FORWARD),
    "decomposition": rules.planner(rules.DECOMPOSITION),
    "ref": rules.planner(rules.REF),
    "meta": rules.planner(rules.META),
    "lowering": rules.planner(rules.LOWERING),
    "batch-rule": batching.batch_rule,
    "opinfo": opinfo.opinfo,
    "docs": docs.docs,
    "docs-signature": docs.docs_signature,
    "docs-page": docs.docs_page,
    "error-message": error_messages.error_message,
    "runtime-error": error_messages.error_message,
    "deprecated-macro": error_messages.error_message,
    "structured": structured.structured,
    "composite-stub": structured.composite_stub,
    "test": test_runs.test,
    "opinfo-failure": rows.opinfo_row,
    "opinfo-skip": rows.opinfo_row,
    "compile-failure": rows.compile_row,
    "compile-skip": rows.compile_row,
    "docs-coverage": rows.docs_coverage,
    "docs-link": rows.docs_link,
    "file-link": rows.file_link,
    "note-link": rows.note_link,
    "docstring": arguments.docstring,
    "error-inputs": arguments.error_inputs,
    "internal-assert": error_messages.error_message,
    "typing": rows.typing,
    "test-owner": rows.test_owner,
    "duplicate": rows.duplicate,
}
OF_NAMES = ("docs", "docs-signature", "docs-page", "error-message", "test")
"""Kinds for Python names other than operators: classes, library functions."""


def plain(tree: Tree, change: Change) -> Parts:
    """What is known about any change: the place to edit, the evidence, and the tests."""
    places = _places(tree, change)
    steps = tuple(_steps(change, places))
    return Parts(steps, tests=tuple(_tests(tree, change, places[0])))


def _places(tree: Tree, change: Change) -> list[Location]:
    if change.gap:
        return list(dict.fromkeys((change.gap.location, *change.gap.evidence)))
    return [tree.natives[change.op].location] if change.op else [Location(change.name, 0)]


def _steps(change: Change, places: list[Location]) -> Iterator[ChangeStep]:
    what = change.gap.what if change.gap else change.title
    yield ChangeStep("edit", places[0], what, why=change.why)
    for place in places[1:]:
        yield ChangeStep("read", place, "see what shows it")


def _tests(tree: Tree, change: Change, place: Location) -> Iterator[TestRun]:
    """A test file runs itself; code runs its operator's tests; docs run nothing."""
    if place.path.startswith("test/") and place.path.endswith(".py"):
        yield run_of(Suite(tree.index.facts).at(place))
    elif change.op and not place.path.startswith("docs/"):
        yield from operator_runs(tree, change.op)
