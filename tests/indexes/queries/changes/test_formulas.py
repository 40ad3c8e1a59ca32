"""Plans of gradients, of formulas for forward mode and of dtypes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from indexes.model.vocabulary import Location
from indexes.queries.changes import dtypes
from indexes.queries.changes.formula_tests import FORWARD, flag_edits, flags_of
from indexes.queries.changes.formulas import _checked
from indexes.queries.changes.model import Change
from indexes.queries.changes.planning import Changes
from indexes.queries.gaps.model import Gap
from indexes.queries.gaps.tree import Tree
from tests.indexing import append, opened, write
from tests.tree_marks import YAML

DERIVATIVES = "tools/autograd/derivatives.yaml"
OPINFOS = "torch/testing/_internal/common_methods_invocations.py"


def test_a_formula_for_forward_mode_is_added_to_the_entry(changes: Changes) -> None:
    plan = changes.of_op("lonely", "forward-mode")
    first = plan.steps[0]
    assert (first.action, first.location.path) == ("edit", DERIVATIVES)
    assert "   self: grad * size" in first.code
    assert "+  result: lonely_jvp(self_p, self_t, size)" in first.code
    assert plan.neighbours
    assert all("result" in "\n".join(one.code) for one in plan.neighbours)


def test_what_expects_to_fail_for_want_of_it_is_removed(changes: Changes) -> None:
    plan = changes.of_op("lonely", "forward-mode")
    removed = [step for step in plan.steps if step.action == "remove"]
    assert [step.location.path for step in removed] == ["test/functorch/test_ops.py"] * 2
    assert any(line.startswith('-    xfail("lonely")') for line in removed[0].code)


def test_a_row_of_several_lines_is_removed_whole(changes: Changes) -> None:
    plan = changes.of_op("lonely", "forward-mode")
    (step,) = (step for step in plan.steps if "test_vmapjvpvjp" in step.what)
    gone = [line for line in step.code if line.startswith("-") and "---" not in line]
    assert gone == [
        "-    xfail(",
        '-        "lonely", "", device_type=("cpu")',
        "-    ),  # NYI: forward-AD for lonely",
    ]


def test_only_rows_of_an_opinfo_that_excuse_a_test_of_the_mode_are_removed(
    changes: Changes,
) -> None:
    plan = changes.of_op("lonely", "forward-mode")
    (step,) = (step for step in plan.steps if "test_forward_mode_AD" in step.what)
    gone = [line.strip("- ,") for line in step.code if line.startswith("-") and "---" not in line]
    assert gone == [
        "DecorateInfo(",
        'unittest.expectedFailure, "TestFwdGradients", "test_forward_mode_AD"',
        "),  # no formula",
    ]


def test_the_flags_of_the_opinfo_have_the_tests_run(changes: Changes) -> None:
    plan = changes.of_op("lonely", "forward-mode")
    code = [line for step in plan.steps for line in step.code]
    assert "+        supports_forward_ad=True," in code
    assert "+        supports_fwgrad_bwgrad=True," in code


def test_what_docs_say_of_gradients_may_have_to_change(tree_copy: Path, cache: Path) -> None:
    docs = tree_copy / "torch/_torch_docs.py"
    old = "Computes the absolute value of each element in :attr:`input`."
    docs.write_text(docs.read_text().replace(old, f"{old}\n\nIt is not differentiable."))
    formulas = (tree_copy / DERIVATIVES).read_text().splitlines(keepends=True)
    del formulas[8]  # that of abs for forward mode
    (tree_copy / DERIVATIVES).write_text("".join(formulas))
    with opened(tree_copy, cache) as index:
        plan = Changes(index, histories=0).of_op("abs", "forward-mode")
    (step,) = (step for step in plan.steps if step.location.path == "torch/_torch_docs.py")
    assert step.action == "read"
    assert "not differentiable" in docs.read_text().splitlines()[step.location.line - 1]


def test_only_flags_that_an_opinfo_lacks_are_named() -> None:
    lines = ["OpInfo('one',", "    dtypes=all_types(),", "    supports_forward_ad=True)"]
    assert flags_of(flag_edits(lines, 1, FORWARD)) == ["supports_fwgrad_bwgrad"]
    lines[2] = "    supports_forward_ad=False, supports_fwgrad_bwgrad=True)"
    assert flags_of(flag_edits(lines, 1, FORWARD)) == ["supports_forward_ad"]


def test_what_is_there_is_named_with_what_it_calls(changes: Changes) -> None:
    plan = changes.of_op("mul", "derivative")
    assert plan.there
    assert plan.there.path == DERIVATIVES
    assert plan.steps[0].location.path == DERIVATIVES
    touched = {step.location.path for step in plan.steps if step.touches}
    assert touched == {DERIVATIVES, "torch/csrc/autograd/FunctionsManual.cpp"}


def test_what_is_not_implemented_is_replaced(changes: Changes) -> None:
    plan = changes.of_op("twice", "derivative")
    code = plan.steps[0].code
    assert '-  other: not_implemented("twice")' in code
    assert "+  other: twice_backward(grad, self, other, size)" in code


def test_an_operator_without_an_entry_gets_one_in_the_order_of_names(changes: Changes) -> None:
    plan = changes.of_op("whole", "derivative")
    assert plan.there is not None
    assert plan.there.path == DERIVATIVES
    plan = changes.of_op("everywhere", "derivative")
    added = [line for line in plan.steps[0].code if line.startswith("+")]
    assert (
        "+- name: everywhere(Tensor self, int size=2, int? dim=None, float scale=1) -> Tensor"
        in added
    )
    assert "+  self: everywhere_backward(grad, self, size, dim, scale)" in added


def test_a_gradient_of_what_has_no_opinfo_asks_for_one(changes: Changes) -> None:
    plan = changes.of_op("everywhere", "derivative")
    opinfos = [step for step in plan.steps if "the OpInfo of everywhere" in step.what]
    assert [(step.action, step.location.path) for step in opinfos] == [("add", OPINFOS)]
    assert any("OpInfo(" in line for line in opinfos[0].code if line.startswith("+"))
    assert not any("OpInfo of" in s.what for s in changes.of_op("lonely", "derivative").steps)


def test_tests_of_autograd_are_selected_by_a_name_that_one_has(changes: Changes) -> None:
    for name, chosen in (("lonely", " -k lonely"), ("twice", "")):
        commands = [test.command for test in changes.of_op(name, "derivative").tests]
        assert f"pytest test/test_autograd.py{chosen}" in commands


def test_dtypes_are_added_to_the_opinfo(changes: Changes) -> None:
    plan = changes.of_id("dtype/lonely")
    assert plan is not None
    code = [line for step in plan.steps for line in step.code]
    assert any("Half" in step.what for step in plan.steps)
    assert any(line.startswith("+") and "torch.bfloat16, torch.half" in line for line in code)


_ON_THE_WAY = """namespace at::native {
template <typename scalar_t>
inline void loop(scalar_t* data, int64_t size) {
  for (int64_t at = 0; at < size; at++) { data[at] = data[at] * 2; }
}
void chosen(Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "doubled", [&] {
    loop<scalar_t>(self.data_ptr<scalar_t>(), self.numel());
  });
}
Tensor doubled(const Tensor& self) {
  Tensor result = self.clone();
  chosen(result);
  return result;
}
}
"""


def test_the_macro_may_stand_between_the_kernel_and_the_loop(tree_copy: Path, cache: Path) -> None:
    entry = "\n- func: doubled(Tensor self) -> Tensor\n  dispatch:\n    CPU: doubled\n"
    path = "aten/src/ATen/native/Doubled.cpp"
    append(tree_copy, {YAML: entry, path: _ON_THE_WAY})
    gap = Gap(Location(path, 1), "the CPU kernel of doubled does not take Half", "", op="doubled")
    with opened(tree_copy, cache) as index:
        change = Change("dtype", "doubled", "", op="doubled", gap=gap)
        step = dtypes.plan(Tree(index), change).steps[0]
    assert (step.location, "AT_DISPATCH_FLOATING_TYPES" in step.what) == (Location(path, 7), True)


def test_the_gradient_of_a_composite_is_where_what_it_calls_has_one(
    tree_copy: Path, cache: Path
) -> None:
    rows = ("whole(Tensor self)", "_inside(Tensor self)", "_helper_of_it(Tensor self)")
    entries = [f"\n- func: {row} -> Tensor\n" for row in rows]
    entries[1] += "  dispatch:\n    CPU: _inside\n"
    entries[2] += "  dispatch:\n    CPU: _helper_of_it\n"
    kernels = (
        "namespace at::native {\nTensor whole(const Tensor& self) { return at::_inside(self); }\n"
        "Tensor _inside(const Tensor& self) { return self; }\n}\n"
    )
    helper = (
        "namespace at::native {\nTensor _helper_of_it(const Tensor& self) { return self; }\n}\n"
    )
    manual = (
        "\nnamespace torch::autograd::generated::details {\n"
        "Tensor inside_backward(const Tensor& grad) {\n  return at::_helper_of_it(grad);\n}\n}\n"
    )
    append(
        tree_copy,
        {
            YAML: "".join(entries),
            DERIVATIVES: f"\n- name: {rows[1]} -> Tensor\n  self: inside_backward(grad)\n",
            "aten/src/ATen/native/Whole.cpp": kernels,
            "aten/src/ATen/native/HelperOfIt.cpp": helper,
            "torch/csrc/autograd/FunctionsManual.cpp": manual,
        },
    )
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_op("whole", "derivative")
    assert plan.there
    assert [(step.action, step.location.path.rpartition("/")[2]) for step in plan.steps] == [
        ("edit", "derivatives.yaml"),
        ("edit", "FunctionsManual.cpp"),
        ("read", "HelperOfIt.cpp"),
        ("read", "Whole.cpp"),
    ]


def test_the_list_of_complete_gradients_that_lacks_one_is_read(
    tree_copy: Path, cache: Path
) -> None:
    path = "tools/autograd/gen_variable_type.py"
    lists = (
        'DONT_REQUIRE_DERIVATIVE = {"ones_like", "zeros_like", "empty_like"}\n'
        'GRADIENT_IMPLEMENTED_FOR_COMPLEX = {\n    "mul", "sum",\n    "cat", "add",\n}\n'
        'GRADIENT_IMPLEMENTED_FOR_SPARSE = {"mul", "sum", "cat"}\n'
    )
    write(tree_copy, {path: lists})
    with opened(tree_copy, cache) as index:
        plans = [Changes(index).of_op(name, "derivative") for name in ("relu", "add")]
    found = [[str(s.location) for s in plan.steps if s.location.path == path] for plan in plans]
    assert all(plan.there for plan in plans)
    assert found == [[f"{path}:5"], []]


def test_a_formula_is_checked_by_the_generator_of_the_tree() -> None:
    arguments = ("native_functions", "tags", "out", "autograd")
    given = "".join(f'    parser.add_argument(\n        "{one}", help="")\n' for one in arguments)
    (run,) = _checked(cast(Tree, SimpleNamespace(text=lambda path: given)))
    native = "aten/src/ATen/native/native_functions.yaml aten/src/ATen/native/tags.yaml"
    made = f'python -m tools.autograd.gen_autograd {native} "$(mktemp -d)" tools/autograd'
    assert (run.action, run.command) == ("run", made)
    older = 'parser.add_argument("declarations")'  # what it is given is not known here
    assert not [*_checked(cast(Tree, SimpleNamespace(text=lambda path: older)))]
