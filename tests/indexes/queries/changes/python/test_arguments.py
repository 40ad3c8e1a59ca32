"""Arguments that a docstring leaves out, and wrong ones that an OpInfo does not try."""

from __future__ import annotations

from indexes.queries.changes.planning import Changes
from indexes.queries.gaps.model import GapList


def test_a_missing_argument_is_added_after_the_last_entry(changes: Changes) -> None:
    plan = changes.of_id("docstring/torch.words.said.leaves")
    assert plan is not None
    step = plan.steps[0]
    assert step.what == "Document two."
    assert "+        two: what it is for" in step.code
    (line,) = changes.tree.lines(step.location.path, step.location.line, step.location.line)
    assert line == "        one: the first"


def test_a_wrong_entry_is_shown_at_its_line(changes: Changes) -> None:
    plan = changes.of_id("docstring/torch.words.said.Said.well")
    assert plan is not None
    place = plan.steps[0].location
    assert "Default: ``0.25``" in changes.tree.lines(place.path, place.line, place.line)[0]


def test_error_inputs_are_named_in_the_opinfo_and_tried(changes: Changes, answer: GapList) -> None:
    gap = next(one for one in answer.gaps if one.id == "error-inputs/lonely")
    plan = changes.of_id(gap.id)
    assert plan is not None
    assert [step.action for step in plan.steps] == ["read", "add", "edit"]
    assert "+def error_inputs_lonely(op_info, device, **kwargs):" in plan.steps[1].code
    assert "+        error_inputs_func=error_inputs_lonely," in plan.steps[2].code
    assert [run.command for run in plan.tests] == [
        "pytest test/test_ops.py -k 'test_errors and lonely'"
    ]
