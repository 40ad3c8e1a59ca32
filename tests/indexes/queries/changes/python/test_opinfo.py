"""An OpInfo is drafted from the nearest one, without what that one skips."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from indexes.queries.changes.planning import Changes
from indexes.queries.changes.python.opinfo import _is_public
from indexes.queries.gaps.tree import Tree


def test_an_entry_is_drafted(changes: Changes) -> None:
    plan = changes.of_op("everywhere", "opinfo")
    step = [one for one in plan.steps if one.touches][-1]
    assert step.location.path.startswith("torch/testing/_internal/")
    assert any('"everywhere"' in line for line in step.code if line.startswith("+"))
    assert not any("skips=" in line for line in step.code if line.startswith("+"))
    assert plan.there is None


def test_what_is_tested_is_said(changes: Changes) -> None:
    assert changes.of_op("whole", "opinfo").there is not None


def test_what_is_like_no_other_says_that_its_inputs_are_a_guess(changes: Changes) -> None:
    plan = changes.of_op("everywhere", "opinfo")
    (said,) = plan.missing
    assert "no operator similar to everywhere has an OpInfo" in said


def test_it_is_tested_by_what_is_made_from_the_neighbours_entry(changes: Changes) -> None:
    plan = changes.of_op("everywhere", "opinfo")
    assert plan.tests
    for run in plan.tests:
        assert changes.tree.text(run.path)
        assert run.command == f"pytest {run.path} -k _everywhere_cpu"


def test_what_a_ref_without_an_opinfo_is_tested_by_is_what_its_opinfo_will_run(
    changes: Changes,
) -> None:
    expected = {run.command for run in changes.of_op("everywhere", "opinfo").tests}
    assert expected <= {run.command for run in changes.of_op("everywhere", "ref").tests}


def test_a_factory_that_cannot_be_overridden_has_an_opinfo_if_it_is_documented() -> None:
    documented = {"arange": ["its docstring"]}
    tree = SimpleNamespace(
        public_set=frozenset(("add",)), documentation=lambda op: documented.get(op, [])
    )
    known = [op for op in ("add", "arange", "_made") if _is_public(cast(Tree, tree), op)]
    assert known == ["add", "arange"]
