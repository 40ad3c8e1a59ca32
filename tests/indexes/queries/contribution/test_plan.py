"""A contribution prepared in the small tree, and in trees that lack layers."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import pytest

from indexes.model.errors import NotFound
from indexes.model.vocabulary import Location
from indexes.queries.contribution.plan import Contribution, Contributions
from indexes.queries.contribution.steps import Step, first_of_files, folded
from indexes.queries.index import Index
from indexes.serialize.answers import dumps
from indexes.serialize.contribution import contribution_json
from navigator.text.contribution import sections
from tests.indexing import append, opened

YAML = "aten/src/ATen/native/native_functions.yaml"


@pytest.fixture(scope="module")
def contributions(tree_index: Index) -> Contributions:
    return Contributions(tree_index)


def test_an_operator(contributions: Contributions) -> None:
    found = contributions.of("add.Tensor")
    assert (found.kind, found.name) == ("operator", "add.Tensor")
    roles = [step.role for step in found.steps]
    assert roles[0] == "schema"
    assert {"derivative", "opinfo", "docs"} <= set(roles)
    assert [cost.path for cost in found.costs] == list(found.files)
    assert [op for op, _ in found.tests] == ["add.Tensor"]
    assert any("no .git here" in words for words in found.missing)


def test_an_operator_of_a_library_has_a_plan(contributions: Contributions) -> None:
    found = contributions.of("c10d::barrier", histories=0)
    assert (found.kind, found.name) == ("operator", "c10d::barrier")


def test_every_step_is_a_line_of_the_tree(contributions: Contributions, tree: Path) -> None:
    for op in ("add.Tensor", "relu", "softmax.int", "cumsum"):
        for step in contributions.of(op, histories=0).steps:
            lines = (tree / step.location.path).read_text().splitlines()
            assert 1 <= step.location.line <= len(lines), step


def test_another_operator_that_it_calls_is_named_and_not_followed(
    contributions: Contributions,
) -> None:
    steps = contributions.of("relu", histories=0).steps
    assert ("calls", "clamp_min") in [(step.role, step.symbol) for step in steps]
    assert "clamp_min" not in [step.symbol for step in steps if step.role == "schema"]


def test_an_operator_that_carries_its_name_is_a_part_of_it(contributions: Contributions) -> None:
    steps = contributions.of("softmax.int", histories=0).steps
    entries = [step.symbol for step in steps if step.role == "schema"]
    assert entries[:2] == ["softmax.int", "_softmax"]
    assert "_softmax_backward_data" not in entries
    assert any("softmax_cpu_out" in step.symbol for step in steps if step.role == "kernel")


PRIVATE_YAML = """
- func: whole_of(Tensor self) -> Tensor

- func: another_of(Tensor self) -> Tensor

- func: joined_of(Tensor[] tensors) -> Tensor

- func: _joined_of(Tensor[] tensors) -> Tensor
  dispatch:
    CPU: joined_of_cpu

- func: _inner_step(Tensor self) -> Tensor
  dispatch:
    CPU: inner_step_cpu

- func: _shared_step(Tensor self) -> Tensor
  dispatch:
    CPU: shared_step_cpu
"""
PRIVATE = """
namespace at::native {
Tensor whole_of(const Tensor& self) { return at::_inner_step(at::_shared_step(self)); }
Tensor another_of(const Tensor& self) { return at::_shared_step(self); }
Tensor joined_of(TensorList tensors) { return at::_joined_of(tensors); }
}
"""
PRIVATE_KERNELS = """
namespace at::native {
Tensor inner_step_cpu(const Tensor& self) {
  cpu_kernel(iter, [](float x) { return x; });
  return self;
}
Tensor joined_of_cpu(TensorList tensors) { return tensors[0]; }
Tensor shared_step_cpu(const Tensor& self) {
  cpu_kernel(iter, [](float x) { return x; });
  return self;
}
}
"""


INNER_ON_VULKAN = """
namespace at::native::vulkan::ops {
Tensor inner_step(const Tensor& self) {
  context->submit_compute_job(VK_KERNEL(inner));
  return self;
}
TORCH_LIBRARY_IMPL(aten, Vulkan, m) {
  m.impl("_inner_step", TORCH_FN(inner_step));
}
}
"""


def test_a_private_operator_that_it_alone_calls_is_a_part_of_it(
    tree_copy: Path, cache: Path
) -> None:
    append(tree_copy, {YAML: PRIVATE_YAML})
    native = tree_copy / "aten/src/ATen/native"
    (native / "Whole.cpp").write_text(PRIVATE)
    (native / "Inner.cpp").write_text(PRIVATE_KERNELS)
    (native / "vulkan/ops/Inner.cpp").write_text(INNER_ON_VULKAN)
    (native / "vulkan/glsl").mkdir()
    (native / "vulkan/glsl/inner.glsl").write_text("void main() {}\n")
    with opened(tree_copy, cache) as index:
        steps = Contributions(index).of("whole_of", histories=0).steps
        moving = Contributions(index).of("joined_of", histories=0).steps
    assert "joined_of_cpu" in "".join(step.symbol for step in moving if step.role == "kernel")
    kernels = [step.symbol.rpartition("::")[2] for step in steps if step.role == "kernel"]
    assert kernels == ["whole_of", "inner_step_cpu", "inner_step"]
    assert "inner.glsl" in [step.symbol for step in steps if step.role == "helper"]
    assert [step.symbol for step in steps if step.role == "calls"] == ["_shared_step"]


def test_a_gradient_that_bears_its_name_is_a_part_of_it(contributions: Contributions) -> None:
    steps = contributions.of("_softmax", histories=0).steps
    entries = [step.symbol for step in steps if step.role == "schema"]
    assert entries[0] == "_softmax"
    assert "_softmax_backward_data" in entries


def test_all_overloads_of_a_name_belong_to_it_the_first_one_before(
    contributions: Contributions,
) -> None:
    steps = contributions.of("sum", histories=0).steps
    entries = [step.symbol for step in steps if step.role == "schema"]
    assert entries[0] == "sum"
    assert {"sum.dim_IntList", "sum.out"} < set(entries)


def test_functions_that_its_kernels_use_and_little_else_does(contributions: Contributions) -> None:
    steps = contributions.of("cumsum", histories=0).steps
    (helper,) = [step for step in steps if step.symbol == "at::native::scan_dim"]
    assert helper.role == "helper"
    assert helper.location.path == "aten/src/ATen/native/cuda/ScanUtils.cuh"
    assert "functions of one file do" in helper.rule
    assert "gpu_kernel" not in " ".join(step.symbol for step in steps if step.role == "helper")


def test_where_functions_of_formulas_stand(contributions: Contributions) -> None:
    """For an operator with a formula, whether or not it calls one of them."""
    files = [s.location.path for s in contributions.of("cumsum").steps if s.role == "formulas"]
    assert "torch/csrc/autograd/FunctionsManual.h" in files


def test_a_function_of_formulas_leads_to_these_and_to_no_kernel(
    contributions: Contributions,
) -> None:
    found = contributions.of("maybe_multiply", histories=0)
    assert found.files == (
        "torch/csrc/autograd/FunctionsManual.cpp",
        "tools/autograd/derivatives.yaml",
        "torch/csrc/autograd/FunctionsManual.h",
    )


def test_a_python_name_has_its_own_place_first_and_the_tests_that_name_it(
    contributions: Contributions,
) -> None:
    found = contributions.of("torch.nn.functional.softmax", histories=0)
    assert (found.kind, found.steps[0].location.path) == ("operator", "torch/nn/functional.py")
    name, tests = found.tests[0]
    assert name == "torch.nn.functional.softmax"
    assert "test/test_nn.py" in [one.path for one in tests.named]


def test_files_that_write_a_public_name_follow_the_tests_that_are_named_after_it(
    contributions: Contributions,
) -> None:
    (_, tests) = contributions.of("softmax.int", histories=0).tests[0]
    paths = [one.path for one in tests.named]
    assert "test/test_nn.py" in paths
    assert len(paths) == len(set(paths))


def test_places_that_are_too_many_are_left_out_of_files_that_have_others(
    contributions: Contributions,
) -> None:
    steps = contributions.of("add.Tensor", histories=0).steps
    kept = first_of_files([*steps, *steps], len(steps))
    assert {step.location.path for step in kept} == {step.location.path for step in steps}
    assert kept[0] == steps[0]
    seldom = Step("docs", "", Location("a", 1), "", "seldom")
    often = Step("kernel", "", Location("b", 1), "")
    assert first_of_files([seldom, often], 1) == [often]


def test_of_many_files_those_for_other_tensors_are_folded_first() -> None:
    paths = ("aten/native/sparse/A.cpp", "aten/native/A.cpp", "aten/native/B.cpp")
    steps = [Step("kernel", "", Location(path, line), "") for path in paths for line in (1, 2)]
    left = [{s.location.path for s in folded(steps, n) if s.change == "seldom"} for n in (3, 2, 1)]
    assert left == [set(), {paths[0]}, {paths[0], paths[2]}]


def test_what_stands_in_python_about_a_part_that_a_composite_calls_is_named(
    tree_copy: Path, cache: Path
) -> None:
    entries = """
- func: pooling(Tensor self) -> Tensor

- func: _pooling(Tensor self) -> Tensor
  dispatch:
    CPU: pooling_cpu
"""
    body = "Tensor pooling(const Tensor& self) { return at::_pooling(self); }\n"
    body += "Tensor pooling_cpu(const Tensor& self) { return self; }"
    decomposition = "\n\n@register_decomposition(aten._pooling)\ndef pooled(x):\n    return x\n"
    path = "torch/_decomp/decompositions.py"
    native = {"aten/src/ATen/native/Pooling.cpp": f"namespace at::native {{\n{body}\n}}\n"}
    append(tree_copy, {YAML: entries, path: decomposition, **native})
    with opened(tree_copy, cache) as index:
        steps = Contributions(index).of("pooling").steps
    assert path in {step.location.path for step in steps if step.role == "decomposition"}


def test_a_symbol_names_the_operators_that_reach_it(contributions: Contributions) -> None:
    found = contributions.of("at::native::mul_kernel")
    assert found.kind == "symbol"
    assert found.name.endswith("mul_kernel")
    assert "mul.Tensor" in found.operators
    assert "mul.Tensor" in [op for op, _ in found.tests]
    around = {step.location.path for step in found.steps if step.role == "around"}
    assert around
    assert around.isdisjoint(found.will_change)


def test_methods_of_the_same_name_that_a_plan_leaves_out_are_named(
    tree_copy: Path, cache: Path
) -> None:
    parts = (
        "class Group:\n    def mul_kernel(self):\n        pass\n    def add(self):\n        pass\n"
    )
    append(tree_copy, {"torch/grouping.py": parts})
    with opened(tree_copy, cache) as index:
        found = Contributions(index).of("mul_kernel", histories=0)
        qualified = Contributions(index).of("torch.grouping.Group.mul_kernel", histories=0)
        operator = Contributions(index).of("add", histories=0)
    assert not _said_missing(operator, "also named")
    assert "torch/grouping.py" not in [step.location.path for step in found.steps]
    words = "also named mul_kernel: torch.grouping.Group.mul_kernel (torch/grouping.py:2)"
    assert _said_missing(found, words)
    assert not _said_missing(qualified, "also named")


def _said_missing(found: Contribution, words: str) -> bool:
    return any(words in one for one in found.missing)


def test_a_file_and_a_line(contributions: Contributions) -> None:
    whole = contributions.of("aten/src/ATen/native/BinaryOps.h")
    assert (whole.kind, [cost.kind for cost in whole.costs]) == ("file", ["header"])
    line = contributions.of("test/test_ops.py:14")
    assert line.name == "test/test_ops.py:14"
    assert [one.kind for one in line.reviews if one.kind == "test owner"] == ["test owner"]


@pytest.mark.parametrize(
    "name", ["no_such_thing_at_all", "../../../etc/passwd", "/etc/passwd", "a/b.cpp:3", "", "x:y"]
)
def test_an_unknown_name(contributions: Contributions, name: str) -> None:
    with pytest.raises(NotFound):
        contributions.of(name)


def test_a_path_as_shells_complete_it(contributions: Contributions, tree: Path) -> None:
    found = contributions.of(f"{tree}/torch/functional.py:2:7", histories=0)
    assert found.name == "torch/functional.py:2"


def test_a_test_says_how_it_is_run(contributions: Contributions) -> None:
    whole = contributions.of("test/test_ops.py", histories=0)
    assert whole.tests[0][1].named[0].command == "pytest test/test_ops.py"
    line = contributions.of("test/test_nn.py:8", histories=0)
    assert line.tests[0][1].named[0].command == (
        "pytest test/test_nn.py -k 'TestNN and test_softmax_cpu'"
    )


def test_a_python_file_names_the_operators_that_it_registers(contributions: Contributions) -> None:
    found = contributions.of("torch/_decomp/decompositions.py", histories=0)
    assert found.operators
    assert found.tests


def test_no_history_is_asked_for(contributions: Contributions) -> None:
    assert contributions.of("add.Tensor", histories=0).history == ()
    assert "torchnav clone --history" in contributions.of("add.Tensor", histories=1).history_missing


def test_json_has_every_key_and_no_absolute_path(contributions: Contributions, tree: Path) -> None:
    text = dumps(contribution_json(contributions.of("add.Tensor")))
    answer = json.loads(text)
    assert set(answer) == {
        "schema_version",
        "source",
        "subject",
        "steps",
        "more",
        "rebuild",
        "reviewers",
        "approved_by",
        "history",
        "history_missing",
        "tests",
        "commands",
        "conventions",
        "missing",
        "tests_now",
    }
    assert str(tree) not in text
    assert answer["tests"][0]["files"][0]["command"].startswith("pytest test/test_ops.py -k ")


def test_a_wheel_gives_what_it_has(wheel: Index) -> None:
    found = Contributions(wheel).of("mul.Tensor")
    assert {"schema", "derivative", "opinfo"} <= {step.role for step in found.steps}
    assert (found.reviews, found.commands) == ((), ())
    assert {cost.kind for cost in found.costs} == {"none", "unknown"}
    assert found.tests[0][1].opinfos != ()
    assert "torchnav clone" in found.tests[0][1].missing
    assert found.history_missing


@pytest.mark.checkout
def test_a_full_tree(checkout_index: Index, checkout: Path) -> None:
    contributions = Contributions(checkout_index)
    for op in ("mul.Tensor", "_softmax", "max_pool2d_with_indices", "index_add", "linalg_svd"):
        found = contributions.of(op, histories=1)
        assert found.reviews
        assert found.commands
        for _, tests in found.tests:
            for one in (*tests.files, *tests.named):
                assert (checkout / one.path).is_file()


def test_broken_trees_still_answer(tree_copy: Path, cache: Path) -> None:
    (tree_copy / "CODEOWNERS").write_bytes(b"\xff\xfe\x00[")
    (tree_copy / "CONTRIBUTING.md").write_bytes(b"\xff```\n`")
    (tree_copy / ".git").write_text("gitdir: nowhere\n")
    with opened(tree_copy, cache) as index:
        found = Contributions(index).of("add.Tensor")
    assert found.steps
    assert found.history_missing


def test_what_computes_will_change_and_what_lists_may(contributions: Contributions) -> None:
    found = contributions.of("relu", histories=0)
    changes = {(step.role, step.change) for step in found.steps}
    assert ("kernel", "will") in changes
    assert {("schema", "may"), ("derivative", "may")} <= changes
    assert 1 <= len(found.will_change) <= 3
    named = contributions.of("torch/_torch_docs.py", histories=0)
    assert named.will_change == ("torch/_torch_docs.py",)


def test_what_no_opinfo_tests_has_the_tests_of_those_that_need_it(
    contributions: Contributions,
) -> None:
    below = contributions.of("_softmax", histories=0)
    assert [op for op, _ in below.tests] == ["_softmax", "softmax.int"]
    assert [found.opinfos[0].name for _, found in below.tests[1:]] == ["softmax"]
    assert not _said(below, "no OpInfo")


def test_what_nothing_tests_has_the_file_for_an_opinfo(contributions: Contributions) -> None:
    found = contributions.of("clamp_min", histories=0)
    (place,) = [step.location.path for step in found.steps if step.role == "opinfo"]
    assert place == "torch/testing/_internal/common_methods_invocations.py"
    assert _said(found, "no OpInfo for clamp_min")
    of_file = contributions.of("torch/functional.py", histories=0)
    assert not _said(of_file, "no OpInfo for torch/")


def _said(found: Contribution, words: str) -> bool:
    return any(words in row.text for one in sections(found) for row in one.rows)


def test_a_part_that_only_sparse_tensors_have_is_followed(tree_copy: Path, cache: Path) -> None:
    append(tree_copy, {YAML: "\n- func: clump(Tensor self) -> Tensor\n  variants: method\n"})
    part = "\n- func: _clump(Tensor self) -> Tensor\n  dispatch:\n    SparseCPU: of_clump\n"
    append(tree_copy, {YAML: part})
    text = "namespace at::native {{\nTensor {0}(const Tensor& self) {{\n  return {1};\n}}\n}}\n"
    native = tree_copy / "aten/src/ATen/native"
    (native / "Clump.cpp").write_text(text.format("clump", "at::_clump(self)"))
    (native / "sparse/ClumpSparse.cpp").write_text(text.format("of_clump", "at::cumsum(self, 0)"))
    with opened(tree_copy, cache) as index:
        steps = Contributions(index).of("clump", histories=0).steps
    kernels = [PurePosixPath(s.location.path).name for s in steps if s.role == "kernel"]
    assert kernels == ["Clump.cpp", "ClumpSparse.cpp"]


def test_opinfos_of_other_functions_of_its_name_are_folded(tree_copy: Path, cache: Path) -> None:
    path = "torch/testing/_internal/opinfo/definitions/_masked.py"
    append(tree_copy, {path: 'op_db = [\n    OpInfo("masked.softmax"),\n]\n'})
    with opened(tree_copy, cache) as index:
        steps = Contributions(index).of("softmax", histories=0).steps
    (step,) = [one for one in steps if one.location.path == path]
    assert (step.symbol, step.change) == ("masked.softmax", "seldom")
