"""What stands around the places of a plan."""

from __future__ import annotations

from indexes.queries.changes.planning import Changes
from indexes.queries.contribution.helpers import header_of
from indexes.queries.contribution.plan import Contributions
from indexes.serialize.changes import plan_json
from navigator.text.changes import plan_lines, plan_markdown

_NATIVE = "aten/src/ATen/native"


def test_a_check_has_the_other_places_of_its_operator_beside_it(changes: Changes) -> None:
    plan = changes.of_op("sin", "error-message")
    paths = [step.location.path for step in plan.related]
    assert f"{_NATIVE}/native_functions.yaml" in paths
    assert len(paths) == len({*paths})
    assert not {*paths} & {step.location.path for step in plan.steps}
    assert plan_json(plan)["related"]
    for lines in (plan_lines(plan), plan_markdown(plan)):
        assert any(line.endswith("Related places, which may have to follow") for line in lines)


def test_a_docstring_has_nothing_beside_it(changes: Changes) -> None:
    assert changes.of_op("sin", "docs").related == ()


def test_headers_that_a_source_only_includes_are_no_part_of_the_change(changes: Changes) -> None:
    found = Contributions(changes.tree.index).of("gelu", histories=0)
    assert f"{_NATIVE}/TensorCompare.h" not in found.files


def test_the_header_beside_a_source(changes: Changes) -> None:
    facts = changes.tree.index.facts
    assert header_of(facts, f"{_NATIVE}/Activation.cpp") == f"{_NATIVE}/Activation.h"
    assert header_of(facts, f"{_NATIVE}/Activation.h") == ""
