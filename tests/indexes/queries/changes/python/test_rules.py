"""What Python registers for an operator: where, in which words, and which lists it leaves."""

from __future__ import annotations

from indexes.queries.changes.model import ChangeStep, Plan
from indexes.queries.changes.planning import Changes


def _steps(plan: Plan | None, path: str) -> list[ChangeStep]:
    assert plan is not None
    return [step for step in plan.steps if step.location.path == path and step.touches]


def test_a_decomposition_stands_after_the_nearest_one(changes: Changes) -> None:
    plan = changes.of_id("decomposition/lonely")
    (step,) = _steps(plan, "torch/_decomp/decompositions.py")
    assert step.action == "add"
    assert "+@register_decomposition(aten.lonely)" in step.code
    assert any(line.startswith("+def lonely(self") for line in step.code)
    assert plan is not None
    assert plan.neighbours
    assert plan.there is None


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
