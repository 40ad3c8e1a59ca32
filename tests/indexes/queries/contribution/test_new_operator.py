"""A new operator planned in the small tree: checks, neighbours, and lines to copy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexes.queries.contribution.new_operator import Planner
from indexes.queries.index import Index
from indexes.serialize.answers import dumps
from indexes.serialize.contribution import new_operator_json
from tests.indexing import opened


@pytest.fixture(scope="module")
def planner(tree_index: Index) -> Planner:
    return Planner(tree_index)


def test_a_good_schema_has_a_plan(planner: Planner) -> None:
    plan = planner.plan("cosine2(Tensor self) -> Tensor")
    assert plan.good
    assert "the schema" in plan.neighbours[0].why
    titles = [one.title for one in plan.additions]
    assert titles[0] == "native_functions.yaml"
    assert {"derivatives.yaml", "OpInfo"} <= set(titles)
    assert titles.index("derivatives.yaml") < titles.index("OpInfo")


def test_every_shape_stands_in_the_tree(planner: Planner, tree: Path) -> None:
    for schema in (
        "a2(Tensor self) -> Tensor",
        "b2(Tensor self, Tensor other) -> Tensor",
        "c2_(Tensor(a!) self) -> Tensor(a!)",
    ):
        additions = planner.plan(schema).additions
        assert len(additions) > 2
        for one in additions:
            text = (tree / one.location.path).read_text().splitlines()
            start = one.location.line - 1
            assert tuple(text[start : start + len(one.shape)]) == one.shape
            assert one.shape


def test_the_formula_of_another_operator_is_no_place_for_one(planner: Planner) -> None:
    plan = planner.plan("_foreach_sub2.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]")
    assert plan.neighbours[0].native.name == "_foreach_add"
    assert "derivatives.yaml" not in [one.title for one in plan.additions]


def test_an_inplace_operator_gets_its_functional_variant(planner: Planner) -> None:
    plan = planner.plan("abs2_(Tensor(a!) self) -> Tensor(a!)")
    assert plan.good
    assert [one.name for one in plan.drafts[0]] == ["abs2", "abs2_", "abs2.out"]


def test_files_that_name_the_family_are_told_from_those_that_name_few(planner: Planner) -> None:
    plan = planner.plan("cosine2(Tensor self) -> Tensor")
    assert {one.certainty for one in plan.additions} == {"surely", "perhaps"}
    assert plan.additions[0].certainty == "surely"
    assert all(one.why for one in plan.additions)
    assert not any(one.location.path.startswith("test/test_") for one in plan.additions)


def test_tests_commands_and_reviewers_are_told(planner: Planner) -> None:
    plan = planner.plan("add2(Tensor self, Tensor other) -> Tensor")
    assert "python test/test_ops.py -k _add2_" in [one.command for one in plan.tests]
    assert "/aten/src/ATen/native/sparse/" in [one.rule for one in plan.reviews]
    assert plan.history_missing.endswith("torchnav clone --history")


def test_the_draft_has_the_new_names(planner: Planner) -> None:
    plan = planner.plan("cosine2(Tensor self) -> Tensor")
    first = plan.neighbours[0].native
    assert plan.draft[0] == "- func: cosine2(Tensor self) -> Tensor"
    assert not any(f" {first.name}" in line for line in plan.draft)


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ("no schema", ["schema"]),
        ("abs(Tensor self) -> Tensor", ["name"]),
        ("x2(Quux self) -> Tensor", ["type"]),
        ("", ["schema"]),
    ],
)
def test_what_is_wrong_is_said(planner: Planner, schema: str, what: list[str]) -> None:
    plan = planner.plan(schema)
    assert [one.what for one in plan.checks if not one.good] == what
    assert not plan.good


@pytest.mark.parametrize(
    ("formula", "good"),
    [
        ("self: grad * 2", True),
        ("self: grad.abs()", True),
        ("self: abs(grad)", True),
        ("self: no_such_function(grad)", False),
        ("other: grad", False),
    ],
)
def test_formulas_name_what_exists(planner: Planner, formula: str, good: bool) -> None:
    plan = planner.plan("cosine2(Tensor self) -> Tensor", [formula])
    assert [one.good for one in plan.checks if one.what == "formula"] == [good]


def test_json(planner: Planner, tree: Path) -> None:
    text = dumps(new_operator_json(planner.plan("cosine2(Tensor self) -> Tensor")))
    answer = json.loads(text)
    assert set(answer) == {
        "schema_version",
        "source",
        "schema",
        "good",
        "checks",
        "neighbours",
        "draft",
        "additions",
        "tests",
        "precedents",
        "history_missing",
        "commands",
        "reviewers",
        "rebuild",
        "conventions",
    }
    assert str(tree) not in text
    assert {"test/test_ops.py"} <= {one["path"] for one in answer["tests"]}


def test_the_wheel_has_models_too(wheel: Index) -> None:
    plan = Planner(wheel).plan("mish2(Tensor self) -> Tensor")
    assert {"native_functions.yaml", "OpInfo"} <= {one.title for one in plan.additions}


@pytest.mark.checkout
def test_a_full_tree(checkout_index: Index, checkout: Path) -> None:
    plan = Planner(checkout_index).plan("mish2(Tensor self) -> Tensor")
    titles = {one.title for one in plan.additions}
    assert {"Kernel", "derivatives.yaml", "OpInfo", "Overrides", "Docs page"} <= titles
    for one in plan.additions:
        assert (checkout / one.location.path).is_file()


def test_a_draft_has_no_row_for_a_device_of_another_repository(
    tree_copy: Path, cache: Path
) -> None:
    entries = tree_copy / "aten/src/ATen/native/native_functions.yaml"
    near, far = "  dispatch:\n    CPU, CUDA", "  dispatch:\n    MTIA: far_mtia\n    CPU, CUDA"
    entries.write_text(entries.read_text().replace(near, far))
    with opened(tree_copy, cache) as index:
        assert "MTIA" in next(one.keys for one in index.operators() if one.full_name == "abs.out")
        drafts = Planner(index).plan("abs2(Tensor self) -> Tensor").drafts[0]
    assert any("dispatch" in line for one in drafts for line in one.lines)
    assert not any("MTIA" in line for one in drafts for line in one.lines)


def test_functions_that_have_its_name_already_are_places(planner: Planner) -> None:
    for name, path in {
        "_sparse_compressed_tensor_unsafe_template": (
            "aten/src/ATen/native/sparse/SparseCsrTensor.cpp"
        ),
        "_documented": "torch/optim/__init__.py",
    }.items():
        additions = planner.plan(f"{name}(Tensor self) -> Tensor").additions
        (found,) = [one for one in additions if one.title == "Function of its name"]
        assert found.location.path == path
        assert name in found.shape[0]
