"""A batching rule stands after the nearest one, and leaves the list of missing ones."""

from __future__ import annotations

from indexes.queries.changes.planning import Changes


def test_the_row_that_expects_a_failure_goes(changes: Changes) -> None:
    plan = changes.of_id("batch-rule/lonely")
    assert plan is not None
    (step,) = [s for s in plan.steps if s.action == "remove"]
    assert step.location.path == "test/functorch/test_vmap.py"
    assert any(line.startswith("-") and 'xfail("lonely"' in line for line in step.code)


def test_the_rule_is_registered_beside_others(changes: Changes) -> None:
    plan = changes.of_id("batch-rule/lonely")
    assert plan is not None
    added = [step for step in plan.steps if step.action == "add"]
    assert any(step.location.path.startswith("aten/src/ATen/functorch/") for step in added)
    assert any("lonely" in line for step in added for line in step.code)
