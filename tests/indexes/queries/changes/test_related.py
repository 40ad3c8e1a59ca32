"""What stands around the places of a plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.changes import planning
from indexes.queries.changes.planning import Changes
from indexes.queries.changes.related import computed
from indexes.queries.contribution.helpers import header_of
from indexes.queries.contribution.plan import Contributions
from indexes.queries.gaps.tree import Tree
from indexes.serialize.changes import plan_json
from navigator.text.changes import plan_lines, plan_markdown
from tests.indexing import append, opened
from tests.tree_marks import YAML

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


def test_of_many_places_those_beyond_the_most_are_folded(
    changes: Changes, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = changes.of_op("sin", "error-message")
    monkeypatch.setattr(planning, "MAX_SHOWN", len({s.location.path for s in every.steps}) + 1)
    plan = changes.of_op("sin", "error-message")
    assert len(plan.related) == len(every.related) > 2
    assert len([step for step in plan.related if step.change != "seldom"]) == 1


def test_a_docstring_has_nothing_beside_it(changes: Changes) -> None:
    assert changes.of_op("sin", "docs").related == ()


def test_headers_that_a_source_only_includes_are_no_part_of_the_change(changes: Changes) -> None:
    found = Contributions(changes.tree.index).of("gelu", histories=0)
    assert f"{_NATIVE}/TensorCompare.h" not in found.files


def test_the_header_beside_a_source(changes: Changes) -> None:
    facts = changes.tree.index.facts
    assert header_of(facts, f"{_NATIVE}/Activation.cpp") == f"{_NATIVE}/Activation.h"
    assert header_of(facts, f"{_NATIVE}/Activation.h") == ""


def test_what_computes_for_an_overload_is_read_where_another_calls_it(
    tree_copy: Path, cache: Path
) -> None:
    entries = """
- func: ranging(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: ranging

- func: ranging.sparse(Tensor self, int n) -> Tensor
  dispatch:
    SparseCPU: ranging_sparse

- func: ranging.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: ranging_out
"""
    names = {"Ranging": "Tensor ranging(const Tensor& self)"}
    names["Ranges"] = "Tensor& ranging_out(const Tensor& self, Tensor& out)"
    cxx = {
        f"{_NATIVE}/{file}.cpp": f"namespace at::native {{\n{head} {{ return self; }}\n}}\n"
        for file, head in names.items()
    }
    append(tree_copy, {YAML: entries, **cxx})
    with opened(tree_copy, cache) as index:
        found = [*computed(Tree(index), "ranging")]
    assert [step.location.path for step in found] == [*cxx]
