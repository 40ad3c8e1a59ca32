"""What can be asked for, and what every plan has."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from indexes.model.errors import NotFound, UsageError
from indexes.model.vocabulary import Location
from indexes.queries.changes.diffs import in_order, joined, removed
from indexes.queries.changes.model import ChangeStep
from indexes.queries.changes.planning import Changes
from indexes.queries.gaps.model import GapList
from indexes.serialize.answers import dumps
from indexes.serialize.changes import plan_json
from navigator.text.changes import plan_lines, plan_markdown


def test_every_gap_has_a_plan(answer: GapList, changes: Changes) -> None:
    first = {gap.kind: gap for gap in reversed(answer.gaps)}
    assert len(first) > 10
    for gap in first.values():
        plan = changes.of_id(gap.id)
        assert plan is not None
        assert plan.change.id == gap.id
        assert plan.steps
        assert plan.there is None
        assert gap.location.path in {step.location.path for step in plan.steps}


def test_steps_stand_on_lines_of_the_tree(answer: GapList, changes: Changes) -> None:
    for gap in {gap.kind: gap for gap in answer.gaps}.values():
        plan = changes.of_id(gap.id)
        assert plan is not None
        for step in plan.steps:
            lines = changes.tree.lines(step.location.path)
            assert step.location.line <= len(lines), (gap.id, step)


def test_what_is_no_id_has_no_plan(changes: Changes) -> None:
    assert changes.of_id("lonely") is None
    assert changes.of_id("aten/src/ATen/native/Lonely.cpp") is None


def test_an_id_of_nothing_is_refused_with_near_ones(changes: Changes) -> None:
    with pytest.raises(NotFound) as error:
        changes.of_id("kernel/MPS/lonley")
    assert "kernel/MPS/lonely" in error.value.suggestions


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("mps", "kernel/MPS/lonely"),
        ("sparse-mps", "kernel/SparseMPS/lonely"),
        ("sparse", "kernel/SparseCPU/lonely"),
        ("nested", "kernel/NestedTensorCPU/lonely"),
        ("XPU", "kernel/XPU/lonely"),
        ("batch-rule", "batch-rule/lonely"),
    ],
)
def test_words_of_changes(changes: Changes, word: str, expected: str) -> None:
    plan = changes.of_op("lonely", word)
    assert plan.change.id == expected
    again = changes.of_id(expected)
    assert again is not None
    assert again.change == plan.change


def test_each_key_of_a_gap_has_its_own_id(answer: GapList, changes: Changes) -> None:
    gap = next(one for one in answer.gaps if one.kind == "kernel" and len(one.keys) > 1)
    plan = changes.of_op(gap.name, gap.keys[1])
    assert plan.change.id == f"kernel/{gap.keys[1]}/{gap.name}"
    assert plan.change.why == gap.rule


def test_a_word_of_no_change_is_wrong_usage(changes: Changes) -> None:
    with pytest.raises(UsageError, match="nonsense"):
        changes.of_op("lonely", "nonsense")
    with pytest.raises(NotFound):
        changes.of_op("no_such_operator_here", "mps")


def test_tests_are_in_tiers(changes: Changes) -> None:
    plan = changes.of_op("add", "meta")
    tiers = [run.tier for run in plan.tests]
    assert tiers[0] == "now"
    assert tiers == sorted(tiers, reverse=True)
    assert tiers.count("now") <= 5
    assert len({run.command for run in plan.tests}) == len(plan.tests)


def test_every_face_shows_the_steps(changes: Changes) -> None:
    plan = changes.of_id("batch-rule/lonely")
    assert plan is not None
    value = json.loads(dumps(plan_json(plan)))
    assert value["change"]["id"] == "batch-rule/lonely"
    assert len(value["steps"]) == len(plan.steps)
    text, markdown = "\n".join(plan_lines(plan)), "\n".join(plan_markdown(plan))
    for step in plan.steps:
        assert str(step.location) in text
        assert str(step.location) in markdown
    assert markdown.count("- [ ] ") >= len(plan.steps)


def test_rows_beside_each_other_go_in_one_step(changes: Changes) -> None:
    path = "aten/src/ATen/native/native_functions.yaml"
    places = [Location(path, line) for line in (1, 9, 2)]
    steps = [ChangeStep("remove", one, "Remove it.", removed(changes.tree, one)) for one in places]
    steps[2] = replace(steps[2], what="Remove that too.")
    first, alone = joined(changes.tree, steps)
    assert first.what == "Remove it. (2 rows)"
    gone = [line[1:] for line in first.code[2:] if line.startswith("-")]
    assert gone == changes.tree.lines(path, 1, 2)
    assert alone == steps[1]
    apart = replace(steps[2], code=())  # not an exact edit of its lines
    assert joined(changes.tree, [steps[0], apart]) == (steps[0], apart)


@pytest.mark.parametrize(("new", "after"), [("abs", 1), ("bmm", 3), ("gcd", 4), ("zeta", 6)])
def test_a_row_joins_a_list_in_the_order_of_its_rows(new: str, after: int) -> None:
    rows = ["add", "bernoulli", "eye", "gelu", "mul"]
    lines = ["names = [", *(f"    aten.{name}," for name in rows), "]"]
    assert in_order(lines, Location("x.py", 4), f"    aten.{new},") == Location("x.py", after)
    lines[3:5] = reversed(lines[3:5])
    assert in_order(lines, Location("x.py", 4), f"    aten.{new},") == Location("x.py", 4)
