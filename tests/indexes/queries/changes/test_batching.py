"""A batching rule stands after the nearest one, and leaves the list of missing ones."""

from __future__ import annotations

from pathlib import Path

from indexes.queries.changes.planning import Changes
from tests.indexing import append, opened, write
from tests.tree_marks import YAML


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


def test_a_rule_that_is_there_is_read_with_what_such_rules_share(
    tree_copy: Path, cache: Path
) -> None:
    folder = "aten/src/ATen/functorch"
    helper = "int64_t moved(int64_t dim) { return dim; }"
    rules = "".join(
        f"int64_t {name}_batch_rule(int64_t dim) {{ return moved(dim); }}\n" for name in ("f", "g")
    )
    space = "namespace at::functorch {{\n{}\n}}\n"
    append(
        tree_copy,
        {
            f"{folder}/Moving.cpp": space.format(helper),
            f"{folder}/BatchRulesModules.cpp": space.format(rules),
        },
    )
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_op("abs", "batch-rule")
    assert plan.there
    assert f"{folder}/Moving.cpp" in [step.location.path for step in plan.steps]
    assert not [step for step in plan.steps if step.touches][1:]


def test_of_overloads_the_one_without_named_dimensions_is_planned(
    tree_copy: Path, cache: Path
) -> None:
    entries = "\n- func: chosen.Dimname(Tensor self, Dimname dim) -> Tensor\n"
    entries += (
        "\n- func: chosen.int(Tensor self, int dim) -> Tensor\n  dispatch:\n    CPU: chosen\n"
    )
    append(tree_copy, {YAML: entries})
    with opened(tree_copy, cache) as index:
        changes = Changes(index)
        assert changes.of_op("chosen", "MPS").change.op == "chosen.int"
        assert changes.of_op("chosen.Dimname", "docs").change.op == "chosen.Dimname"


def test_tests_of_a_functorch_beside_torch_are_named(tree_copy: Path, cache: Path) -> None:
    path = "functorch/test/test_vmap.py"
    nearer = ("test/functorch/test_batch_rules.py", "test/test_functorch_batch_rules.py")
    write(tree_copy, dict.fromkeys((path, *nearer), "class TestX:\n    def test_x(self): ...\n"))
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_op("cumsum", "batch-rule")
    assert path in [test.path for test in plan.tests]
