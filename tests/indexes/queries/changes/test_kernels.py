"""Plans of kernels: the row, the file, the neighbour, the tables of tests."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from indexes.model.errors import UsageError
from indexes.model.schema import parse_schema
from indexes.queries.changes import kernels, outside
from indexes.queries.changes.entries import renamed
from indexes.queries.changes.kernel_files import KernelFiles
from indexes.queries.changes.kernels import operators_below
from indexes.queries.changes.model import Change, ChangeStep, Parts
from indexes.queries.changes.nearest import Near, Nearest
from indexes.queries.changes.new_kernel import plain_head, with_parameters
from indexes.queries.changes.planning import Changes
from indexes.queries.gaps.tree import Tree
from indexes.queries.index import Index
from tests.indexing import append, opened
from tests.tree_marks import TREE, YAML

NATIVE = "aten/src/ATen/native"


@pytest.fixture(scope="module")
def small(tree_index: Index) -> Tree:
    return Tree(tree_index)


def planned(tree: Tree, op: str, key: str) -> Parts:
    return kernels.plan(tree, Change("kernel", op.partition(".")[0], "", key, op))


def added(parts: Parts) -> ChangeStep:
    return next(step for step in parts.steps if step.action == "add")


@pytest.mark.parametrize(
    ("op", "key", "path", "neighbour"),
    [
        ("sigmoid", "MPS", f"{NATIVE}/mps/operations/UnaryOps.mm", "ceil.out"),
        ("lt.Tensor", "MPS", f"{NATIVE}/mps/operations/BinaryOps.mm", "eq.Tensor_out"),
        ("gelu", "SparseCPU", f"{NATIVE}/sparse/SparseUnaryOps.cpp", "relu"),
        ("eq.Tensor", "SparseCsrCPU", f"{NATIVE}/sparse/SparseCsrTensorMath.cpp", "add.Tensor"),
        ("div.Tensor", "NestedTensorCPU", f"{NATIVE}/nested/NestedTensorOps.cpp", "mul.Tensor"),
    ],
)
def test_a_kernel_goes_where_that_of_the_nearest_stands(
    small: Tree, op: str, key: str, path: str, neighbour: str
) -> None:
    parts = planned(small, op, key)
    assert added(parts).location.path == path
    assert parts.neighbours[0].name.startswith(f"{neighbour} (")
    assert parts.neighbours[0].code
    assert parts.there is None


def _apply(tree: Path, to: Path, parts: Parts) -> None:
    """The diffs of a plan, applied to a copy of their files."""
    for step in parts.steps:
        if step.code[:1] == (f"--- a/{step.location.path}",):
            copy = to / step.location.path
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes((tree / step.location.path).read_bytes())
            diff = "\n".join(step.code) + "\n"
            subprocess.run(["git", "apply", "-"], cwd=to, input=diff, text=True, check=True)


@pytest.mark.parametrize(
    ("op", "key", "entry", "row"),
    [
        ("sigmoid", "MPS", "sigmoid.out", ("MPS", "sigmoid_out_mps")),
        ("nonzero", "MPS", "nonzero", ("MPS", "nonzero_mps")),
        ("nonzero", "MPS", "nonzero.out", ("MPS", "nonzero_out_mps")),
        ("embedding_dense_backward", "MPS", "", ("MPS", "embedding_dense_backward_mps")),
        ("abs", "SparseMPS", "abs", ("SparseCPU, SparseCUDA, SparseMPS", "abs_sparse")),
        ("gelu", "SparseCPU", "gelu", ("SparseCPU, SparseCUDA", "gelu_sparse")),
        ("relu", "SparseMPS", "relu", ("SparseCPU, SparseCUDA, SparseMPS", "relu_sparse")),
        (
            "div.Tensor",
            "NestedTensorCPU",
            "div.Tensor",
            ("NestedTensorCPU, NestedTensorCUDA", "NestedTensor_div_Tensor"),
        ),
    ],
)
def test_the_row_of_the_yaml_file_is_a_diff(
    small: Tree, tree: Path, tmp_path: Path, op: str, key: str, entry: str, row: tuple[str, str]
) -> None:
    _apply(tree, tmp_path, planned(small, op, key))
    entries = yaml.safe_load((tmp_path / YAML).read_text())
    (found,) = [one for one in entries if one["func"].startswith(f"{entry or op}(")]
    assert row in found["dispatch"].items()


def test_a_kernel_that_is_like_no_other_goes_to_a_file_of_its_own(small: Tree) -> None:
    parts = planned(small, "nll_loss_forward.output", "MPS")
    assert added(parts).location.path == f"{NATIVE}/mps/operations/LossNLL.mm"
    assert "its file a guess" in parts.missing[0]
    (other,) = [one for one in parts.steps if one.what.startswith("or write a kernel here")]
    assert other.location.path == f"{NATIVE}/mps/operations/UnaryOps.mm"


def test_a_function_for_any_device_is_named_for_one_more(changes: Changes) -> None:
    parts = planned(changes.tree, "lonely", "MPS")
    assert "+    CPU, CUDA, MPS: lonely" in parts.steps[0].code
    check = parts.steps[1]
    assert check.action == "read"
    assert (changes.tree.lines_of(check.location) or [""])[0].startswith("Tensor lonely(")
    written = [one.location.path for one in parts.steps if one.action == "add"]
    assert not any(path.endswith(".mm") for path in written)


def test_other_overloads_are_left_alone(small: Tree) -> None:
    diff = "\n".join(planned(small, "div.Tensor", "NestedTensorCPU").steps[0].code)
    assert diff.count("+    NestedTensorCPU") == 1


def test_what_is_there_is_not_planned(small: Tree) -> None:
    parts = planned(small, "sin", "MPS")
    assert {step.action for step in parts.steps} == {"read"}
    assert f"{NATIVE}/mps/operations/UnaryOps.mm" in {one.location.path for one in parts.steps}
    assert parts.there is not None
    text = (small.lines(parts.there.path, parts.there.line, parts.there.line) or [""])[0]
    assert text.strip() == "MPS: sin_out_mps"


def test_a_kernel_that_is_there_for_several_devices_is_what_its_stub_runs(small: Tree) -> None:
    parts = planned(small, "sin", "CUDA")
    (ran,) = [step for step in parts.steps if "a stub that it calls runs that" in step.what]
    assert ran.location.path.startswith(f"{NATIVE}/cuda/")


def test_a_key_that_no_operator_has_goes_by_its_layout(small: Tree) -> None:
    parts = planned(small, "relu", "SparseMPS")
    assert "no operator like it has a kernel for SparseMPS" in parts.missing[0]
    nothing = planned(small, "relu", "Lazy")
    assert nothing.steps == ()
    assert nothing.missing


def test_a_kernel_that_a_library_block_registers_goes_beside_others_of_the_block(
    small: Tree,
) -> None:
    path = f"{NATIVE}/vulkan/ops/Ops.cpp"
    there = planned(small, "relu", "Vulkan")
    assert there.there
    assert there.there.path == path
    first, second, *others = planned(small, "gelu", "Vulkan").steps
    own = [(one.action, one.location.path) for one in others]
    assert ("read", f"{NATIVE}/Activation.cpp") in own  # what it does on the CPU
    assert {first.location.path, second.location.path} == {path}
    assert first.code[0].startswith("Tensor gelu(")
    assert '+  m.impl("gelu", TORCH_FN(gelu));' in second.code
    draft, *_ = added(planned(small, "add.Tensor", "Vulkan")).code  # unlike sum, its model
    assert draft == "Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {"


def test_the_files_of_a_key_are_those_where_most_kernels_are_for_it(small: Tree) -> None:
    homes = KernelFiles(small)
    for key in ("SparseCPU", "NestedTensorCPU", "MPS"):
        counts = Counter(p for h in homes.of_key(key).values() for p in {one.path for one in h})
        plain = Counter(p for h in homes.of_key("CPU").values() for p in {one.path for one in h})
        shared = homes.shared_files(key)
        assert counts
        assert all((counts[path] < plain[path]) == (path in shared) for path in counts)


def test_of_a_composite_operator_the_one_below_is_planned(small: Tree) -> None:
    composites = filter(small.is_composite, small.natives)
    plans = ((op, planned(small, op, "MPS")) for op in composites)
    composite, parts = next((op, one) for op, one in plans if one.there is None)
    below = parts.title.split()[3].rstrip(",")
    assert parts.title.endswith(f", which {composite.partition('.')[0]} calls")
    assert parts.steps[0].action == "read"
    assert below in parts.steps[0].what
    assert below in {one.op for one in operators_below(small, composite, "MPS")}
    assert "MPS" not in small.keys(below)


def test_a_kernel_that_is_there_has_the_tests_of_its_back_end(tree_copy: Path, cache: Path) -> None:
    tested = tree_copy / "aten/src/ATen/test/vulkan_api_test.cpp"
    tested.parent.mkdir()
    tested.write_text("\nTEST(VulkanAPI, relu) { at::relu(input()); }\n")
    (tree_copy / "test/test_vulkan.py").write_text("def test_it():\n    torch.relu(input())\n")
    with opened(tree_copy, cache) as index:
        parts = planned(Tree(index), "relu", "Vulkan")
    assert [str(one.location) for one in parts.steps[1:]] == [
        "aten/src/ATen/test/vulkan_api_test.cpp:2"
    ]
    assert parts.tests[0].path == "test/test_vulkan.py"


COMPOSED = """
- func: composed(Tensor self) -> Tensor

- func: chooses(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: chooses

- func: for_back_ends(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: for_back_ends

- func: of_parts(Tensor self) -> Tensor
  dispatch:
    CPU: of_parts

- func: parts_for_mps(Tensor self) -> Tensor
  dispatch:
    MPS: parts_for_mps

- func: by_device(Tensor self) -> Tensor
"""
COMPOSED_SOURCE = """
#define TORCH_CHECK_NOT_IMPLEMENTED(cond, ...) TORCH_CHECK_WITH(cond, __VA_ARGS__)
namespace at::native {
Tensor
of_parts(const Tensor& self) { return self; }
Tensor parts_for_mps(const Tensor& self) { return self; }
Tensor by_device(const Tensor& self) {
  switch (choice(self)) {
    case Choice::first: return at::of_parts(self);
    case Choice::second: return at::parts_for_mps(self);
  }
}
Tensor for_back_ends(const Tensor& self) { TORCH_CHECK_NOT_IMPLEMENTED(false, "not here"); }
Tensor chooses(const Tensor& self) { return at::for_back_ends(self); }
Tensor composed(const Tensor& self) {
  if (at::isComplexType(self.scalar_type())) {
    return at::of_parts(self);
  }
  return at::chooses(self);
}
TORCH_LIBRARY_IMPL(aten, Vulkan, m) { m.impl("for_back_ends", TORCH_FN(of_parts)); }
TORCH_LIBRARY(other, m) { m.def("composed_run(Tensor self) -> Tensor"); }
TORCH_LIBRARY_IMPL(other, Metal, m) { m.impl("composed_run", of_parts); }
TORCH_LIBRARY_IMPL(aten, Metal, m) { m.impl("abs.out", TORCH_FN(of_parts)); }
}
"""


def test_what_a_composite_calls_in_another_case_alone_is_a_note(
    tree_copy: Path, cache: Path
) -> None:
    (tree_copy / YAML).write_text((TREE / YAML).read_text() + COMPOSED)
    source = tree_copy / NATIVE / "Composed.cpp"
    source.write_text(COMPOSED_SOURCE)
    with opened(tree_copy, cache) as index:
        plans = {key: planned(Tree(index), "composed", key) for key in ("MPS", "Vulkan", "Metal")}
        there = Changes(index).of_op("other::composed_run", "Metal")
        other = Changes(index).of_op("other::composed_run", "Vulkan")
        assert Changes(index).of_id(other.change.id) == other
        with pytest.raises(UsageError, match=r"is not in native_functions\.yaml"):
            Changes(index).of_op("other::composed_run", "docs")
    assert there.there
    assert there.files == (f"{NATIVE}/Composed.cpp",)
    assert "TORCH_LIBRARY_IMPL(other, Vulkan, m) {" in other.steps[-1].code
    says = "where at::isComplexType(self.scalar_type()): of_parts has no {} kernel"
    assert all(says.format(key) in one.missing for key, one in plans.items())
    assert plans["MPS"].there
    assert "usually calls" in plans["MPS"].title
    whats = {key: [step.what for step in one.steps] for key, one in plans.items()}
    assert "for_back_ends, which it reaches, has its Vulkan kernel here" in whats["Vulkan"]
    assert "for_back_ends, which it reaches, is for back ends to register" in whats["Metal"]
    assert any(one.startswith("other::composed_run has its Metal") for one in whats["Metal"])
    assert {step.action for step in plans["Metal"].steps} == {"read"}  # its file would be a guess


def test_drafts_name_the_operator_as_its_own_schema_does(tree_copy: Path, cache: Path) -> None:
    (tree_copy / YAML).write_text((TREE / YAML).read_text() + COMPOSED)
    (tree_copy / NATIVE / "Composed.cpp").write_text(COMPOSED_SOURCE)
    with opened(tree_copy, cache) as index:
        tree = Tree(index)
        library, plain = planned(tree, "sigmoid", "Metal"), planned(tree, "of_parts", "MPS")
        chosen = planned(tree, "by_device", "MPS")
    drafts = [line for step in library.steps for line in step.code if "m.impl" in line]
    assert any("+" in line and '"sigmoid"' in line for line in drafts)  # its model is abs.out
    assert added(plain).code[0] == "Tensor"  # what it returns is on the line above its name
    assert chosen.there
    (note,) = chosen.missing
    assert "of_parts has no MPS kernel" in note
    assert "parts_for_mps is for MPS alone" in note


def test_rows_of_tables_that_expect_a_failure_are_removed(changes: Changes) -> None:
    parts = planned(changes.tree, "lonely", "MPS")
    removed = [step for step in parts.steps if step.action == "remove"]
    assert [step.location.path for step in removed] == ["test/test_mps.py"]
    assert "-    'lonely': None," in removed[0].code


def test_a_stub_of_the_neighbour_is_declared_and_registered_for_the_new_one(small: Tree) -> None:
    steps = planned(small, "sum", "CPU").steps
    stubs = [(one.action, one.location.path) for one in steps if "mean_stub" in one.what]
    assert stubs == [("add", f"{NATIVE}/ReduceOps.h"), ("add", f"{NATIVE}/cpu/ReduceOpsKernel.cpp")]


def test_a_drafted_head_has_the_arguments_of_its_own_schema() -> None:
    out = parse_schema("gcd.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
    head = [
        "TORCH_IMPL_FUNC(gcd_out_x)",
        "(const Tensor& self, const Tensor& b2, const Tensor& r) {",
    ]
    renamed = with_parameters(head, out)
    assert renamed[1] == "(const Tensor& self, const Tensor& other, const Tensor& out) {"
    assert with_parameters(["Tensor gcd_x(const Tensor& self) {"], out)[0].endswith("& self) {")
    plain = plain_head(out, "gcd_out_q")
    assert plain == "Tensor& gcd_out_q(const Tensor& self, const Tensor& other, Tensor& out) {"
    schema = parse_schema("norm(Tensor self, Scalar? p, int[1]? dim, SymInt n) -> (Tensor, Tensor)")
    assert plain_head(schema, "norm_q") == (
        "std::tuple<Tensor, Tensor> norm_q(const Tensor& self, const std::optional<Scalar>& p,"
        " OptionalIntArrayRef dim, int64_t n) {"
    )
    masked = parse_schema("take(Tensor?[] at, bool[3] mask, float[] by) -> Tensor")
    assert plain_head(masked, "take_q") == (
        "Tensor take_q(const c10::List<std::optional<Tensor>>& at, std::array<bool, 3> mask,"
        " ArrayRef<double> by) {"
    )


def test_rows_that_expect_what_is_made_of_it_to_fail(tree_copy: Path, cache: Path) -> None:
    rows = "UNIMPLEMENTED_XFAILLIST = {\n    'abs': None,\n    'softmax': None,\n}\n"
    (tree_copy / "test/test_mps.py").write_text(rows)
    entries = (tree_copy / YAML).read_text().splitlines(keepends=True)
    (tree_copy / YAML).write_text("".join(one for one in entries if "softmax_mps_out" not in one))
    with opened(tree_copy, cache) as index:
        (step,) = [s for s in planned(Tree(index), "_softmax", "MPS").steps if "row of" in s.what]
    assert (step.action, step.location.line) == ("edit", 3)
    assert "-    'softmax': None," in step.code


def test_rows_that_name_its_in_place_entry_are_its_own(tree_copy: Path, cache: Path) -> None:
    rows = (
        "UNIMPLEMENTED_XFAILLIST = {\n    'sin': None,\n    'sin_': None,\n    'add_': None,\n}\n"
    )
    (tree_copy / "test/test_mps.py").write_text(rows)
    text = (tree_copy / YAML).read_text()
    (tree_copy / YAML).write_text(text.replace("    MPS: sin_out_mps\n", ""))
    with opened(tree_copy, cache) as index:
        steps = planned(Tree(index), "sin", "MPS").steps
    assert [s.location.line for s in steps if "row of" in s.what] == [2, 3]


def test_an_overload_of_the_same_name_makes_operators_alike(tree_copy: Path, cache: Path) -> None:
    """What computes over dimensions stands with what does, wherever its kernel for the CPU is."""
    entry = (
        "\n- func: amount{}(Tensor self, int[1] dim) -> Tensor\n  dispatch:\n    CPU: amount_cpu\n"
    )
    (tree_copy / NATIVE / "Amount.cpp").write_text(
        "namespace at::native {\nTensor amount_cpu(const Tensor& self, IntArrayRef dim)"
        " { return self; }\n}\n"
    )
    nearest = []
    for overload in ("", ".dim_IntList"):
        (tree_copy / YAML).write_text((TREE / YAML).read_text() + entry.format(overload))
        with opened(tree_copy, cache) as index:
            nearest.append(Nearest(KernelFiles(Tree(index))).of("amount", "MPS")[0].near)
    assert [one.base == "sum" for one in nearest] == [False, True]
    assert "both have an overload dim_IntList" in nearest[1].why


_CEILED = """
- func: ceiled.out(Tensor self, int digits, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: ceiled_out_cpu

- func: ceiled(Tensor self, int digits) -> Tensor
  dispatch:
    CPU: ceiled_cpu
"""
_CEILED_CPU = """namespace at::native {
Tensor& ceiled_out_cpu(const Tensor& self, int64_t digits, Tensor& out) {
  return out;
}
Tensor ceiled_cpu(const Tensor& self, int64_t digits) {
  return self;
}
}
"""


@pytest.mark.parametrize("source", [_CEILED_CPU, "// elsewhere\n"])
def test_what_is_not_structured_has_the_head_of_a_function(
    tree_copy: Path, cache: Path, source: str
) -> None:
    """Though its model is structured: torchgen calls it by its schema."""
    append(tree_copy, {YAML: _CEILED, f"{NATIVE}/UnaryOps.cpp": source})
    with opened(tree_copy, cache) as index:
        parts = planned(Tree(index), "ceiled", "MPS")
    code = "\n".join(added(parts).code)
    assert added(parts).like
    assert "TORCH_IMPL_FUNC" in "\n".join(parts.neighbours[0].code)
    assert "TORCH_IMPL_FUNC" not in code
    assert "(const Tensor& self, int64_t digits, Tensor& out) {" in code


def test_the_underscore_of_a_private_model_is_not_copied(small: Tree) -> None:
    theirs, mine = small.natives["_softmax"], small.natives["sigmoid"]
    assert renamed("_softmax_out_mps", theirs, mine) == "sigmoid_out_mps"
    assert renamed("softmax_mps", theirs, mine) == "sigmoid_mps"


def test_of_operators_as_like_the_model_takes_the_same_types(
    small: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    nearest = Nearest(KernelFiles(small))
    alike = [Near(name, 5.0, "", homes) for name, homes in nearest.homes.of_key("MPS").items()]
    near = {one.base: one for one in alike}
    monkeypatch.setattr(nearest, "_near", lambda base, other, homes, key: near[other])
    models = [nearest.of(base, "MPS")[0].near.base for base in ("lt", "sigmoid")]
    assert models == ["eq", "ceil"]  # each the first of its file with the same types


def test_a_backend_outside_of_the_tree_registers_in_its_own_library(
    tree_copy: Path, cache: Path
) -> None:
    tree = tree_copy
    (tree / "torchgen").mkdir()
    (tree / "torchgen/model.py").write_text("dispatch_keys = [DispatchKey.CPU, DispatchKey.MPS]\n")
    example = tree / "test/cpp_extensions/own/csrc/Minimal.cpp"
    example.parent.mkdir(parents=True)
    example.write_text("\nTORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {\n}\n")
    with opened(tree, cache) as index:
        mine = Tree(index)
        parts, inside = planned(mine, "sin", "PrivateUse1"), planned(mine, "relu", "SparseMPS")
        below = planned(mine, "matmul", "PrivateUse1")
        composite = outside.plan(KernelFiles(mine), "matmul", "PrivateUse1")
    first, *others = parts.steps
    assert str(first.location) == "test/cpp_extensions/own/csrc/Minimal.cpp:2"
    assert first.code[1].strip() == 'm.impl("sin.out", sin_out_privateuse1);'
    assert [one.action for one in others] == ["read", "read"]
    assert below.title.endswith("which matmul calls")
    assert "has no PrivateUse1 kernel in this tree" in below.steps[0].what
    assert [one.action for one in composite.steps] == ["read"]
    assert "model is for" in inside.missing[0]
    assert "has its SparseMPS kernel" not in "".join(one.why for one in inside.steps)


def test_a_kernel_that_other_files_call_is_declared_as_the_model_is(
    tree_copy: Path, cache: Path
) -> None:
    header = f"{NATIVE}/vulkan/ops/Common.h"
    append(tree_copy, {header: "\n// relu(\nTensor relu(const Tensor& self);\n"})
    with opened(tree_copy, cache) as index:
        steps = planned(Tree(index), "gelu", "Vulkan").steps
    (declared,) = [step for step in steps if step.location.path == header]
    assert tree_copy.joinpath(header).read_text().splitlines()[declared.location.line - 1] == (
        "Tensor relu(const Tensor& self);"
    )
