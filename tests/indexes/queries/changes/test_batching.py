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


def test_a_rule_of_a_random_operator_is_there_too(tree_copy: Path, cache: Path) -> None:
    """Vmap has a second key, under which they are registered."""
    path = "aten/src/ATen/functorch/BatchRulesRandomness.cpp"
    block = 'TORCH_LIBRARY_IMPL(aten, FuncTorchVmapMode, m) {\n  m.impl("abs", drawn);\n}\n'
    append(tree_copy, {path: f"Tensor drawn(const Tensor& self) {{ return self; }}\n{block}"})
    functions = "aten/src/ATen/functorch/BatchRulesModules.cpp"
    text = (tree_copy / functions).read_text()
    (tree_copy / functions).write_text(text.replace("abs", "absent"))
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_op("abs", "batch-rule")
    assert plan.there is not None
    assert plan.there.path == path


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


_FOLDER = "aten/src/ATen/functorch"


def test_a_composite_operator_is_registered_as_those_that_are_decomposed(
    tree_copy: Path, cache: Path
) -> None:
    entries = "- func: dropping(Tensor input, float p, bool train) -> Tensor\n\n"
    entries += "- func: dropping.twice(Tensor input, float p, bool train, int n) -> Tensor\n\n"
    entries += "- func: dropping.out(Tensor input, *, Tensor(a!) out) -> Tensor(a!)\n"
    append(tree_copy, {YAML: f"\n{entries}"})
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_op("dropping", "batch-rule")
    added = [line for step in plan.steps for line in step.code if line.startswith("+ ")]
    assert added == ["+  OP_DECOMPOSE(dropping);", "+  OP_DECOMPOSE2(dropping, twice);"]
    places = [step.location.path for step in plan.steps if step.action == "add"]
    assert places[0] == f"{_FOLDER}/BatchRulesDecompositions.cpp"


def test_a_rule_after_what_decomposes_its_operator_does_so_too(
    tree_copy: Path, cache: Path
) -> None:
    entry = "- func: {}.Scalar(Tensor self, Scalar p) -> Tensor\n  dispatch:\n    CPU, CUDA: {}\n"
    cxx = """
namespace at::functorch {
static Tensor normal_sum_decomp(const Tensor& self, const Scalar& p) { return self; }
TORCH_LIBRARY_IMPL(aten, FuncTorchBatched, m) {
  m.impl("normal_sum.Scalar", normal_sum_decomp);
}
}
"""
    names = ("normal_sum", "normal_sums")
    append(
        tree_copy,
        {
            YAML: "".join("\n" + entry.format(name, name) for name in names),
            f"{_FOLDER}/BatchRulesModules.cpp": cxx,
        },
    )
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_op("normal_sums", "batch-rule")
    code = [line for step in plan.steps for line in step.code]
    assert "static Tensor normal_sums_decomp(" in code
    assert '+  m.impl("normal_sums.Scalar", normal_sums_decomp);' in code
