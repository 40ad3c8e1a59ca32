"""What Python registers for an operator: where, in which words, and which lists it leaves."""

from __future__ import annotations

from indexes.queries.changes.model import ChangeStep, Plan
from indexes.queries.changes.planning import Changes
from tests.tree_marks import TREE


def _steps(plan: Plan | None, path: str) -> list[ChangeStep]:
    assert plan is not None
    return [step for step in plan.steps if step.location.path == path and step.touches]


def _line_of(step: ChangeStep) -> str:
    lines = (TREE / step.location.path).read_text().splitlines()
    return lines[step.location.line - 1]


def test_a_decomposition_stands_after_the_nearest_one(changes: Changes) -> None:
    plan = changes.of_id("decomposition/lonely")
    (step,) = _steps(plan, "torch/_decomp/decompositions.py")
    assert step.action == "add"
    assert "+@register_decomposition(aten.lonely)" in step.code
    assert any(line.startswith("+def lonely(self") for line in step.code)
    assert plan is not None
    assert plan.neighbours
    assert plan.there is None


def test_a_decomposition_may_be_the_ref_or_stand_in_the_other_file(changes: Changes) -> None:
    mean = changes.of_op("mean", "decomposition")
    (found,) = [step for step in mean.steps if step.what.startswith("Register the ref of mean")]
    assert "def mean(" in _line_of(found)
    total = changes.of_op("sum", "decomposition")
    added, other = [s.location.path for s in total.steps if "dd " in s.what and "after" in s.what]
    assert (added, other) == ("torch/_refs/__init__.py", "torch/_decomp/decompositions.py")
    assert not [step for step in total.steps if "Register the ref" in step.what]


def test_the_expect_file_is_written_by_its_test(changes: Changes) -> None:
    path = "test/expect/HasDecompTest.test_has_decomposition.expect"
    (step,) = _steps(changes.of_id("decomposition/lonely"), path)
    assert step.action == "remove"
    assert "-aten::lonely" in step.code
    assert "-aten::lonely_backward" not in step.code


def test_a_lowering_replaces_the_fallback(changes: Changes) -> None:
    steps = _steps(changes.of_id("lowering/lonely"), "torch/_inductor/lowering.py")
    assert any("make_fallback(aten.lonely)" in line for step in steps for line in step.code)


def test_what_is_there_is_said(changes: Changes) -> None:
    plan = changes.of_op("whole", "decomposition")
    assert plan.there is not None
    assert plan.there.path == "torch/_decomp/decompositions.py"
    assert plan.steps[0].action == "edit"
    assert plan.steps[0].location == plan.there
    assert plan.tests
