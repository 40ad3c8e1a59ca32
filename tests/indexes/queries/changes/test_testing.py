"""Where a test of an operator belongs: beside the nearest one, or in its OpInfo."""

from __future__ import annotations

from indexes.queries.changes.planning import Changes

_OPINFOS = "torch/testing/_internal/common_methods_invocations.py"


def test_a_test_stands_beside_the_one_that_is_named_after_the_operator(changes: Changes) -> None:
    plan = changes.of_op("softmax", "test")
    assert [(step.action, step.location.path) for step in plan.steps] == [
        ("add", "test/test_nn.py"),
        ("read", _OPINFOS),
    ]
    (like,) = plan.neighbours
    assert (like.name, like.location) == ("TestNN.test_softmax_cpu", plan.steps[0].location)
    assert like.code[0].strip() == "def test_softmax_cpu(self):"
    assert plan.tests[0].command == "pytest test/test_nn.py -k 'TestNN and test_softmax_cpu'"


def test_without_one_its_inputs_belong_in_the_opinfo(changes: Changes) -> None:
    plan = changes.of_op("relu", "test")
    assert [(step.action, step.location.path) for step in plan.steps] == [("edit", _OPINFOS)]
    assert plan.missing[0] == "no test of this tree is written for relu by hand"
