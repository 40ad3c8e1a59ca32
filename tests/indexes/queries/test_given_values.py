"""Routes through functions that are given values: by a call, by a schema, by a name of a body."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes import Index
from tests.indexing import append, nearby, opened, usual
from tests.tree_marks import TREE, YAML

DATA = Path(__file__).parents[2] / "data" / "given_values"
"""The files that are added to the small tree, and entries of its native_functions.yaml."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = Path(shutil.copytree(TREE, tmp_path_factory.mktemp("given") / "pytorch"))
    shutil.copytree(DATA, root, dirs_exist_ok=True)
    append(root, {YAML: (DATA / "added.yaml").read_text()})
    with opened(root, nearby(tmp_path_factory.mktemp("cache"), tmp_path_factory)) as index:
        yield index


def test_a_sign_before_a_tensor_is_its_operator(index: Index) -> None:
    (known,) = index.facts.named("turned_sign")
    (edge,) = index.facts.edges(known.id)
    assert (edge.kind, edge.symbol, edge.target) == ("operator", "operator-", "neg")


@pytest.mark.parametrize(
    ("operator", "function"),
    [
        ("by_literal", "fast_step"),
        ("by_other_literal", "slow_loop"),
        ("by_default", "slow_loop"),  # under another name in its kernel
        ("left_out", "slow_loop"),  # whatever its own argument of that name is
        ("handed_on", "fast_step"),
        ("turned_round", "slow_loop"),
        ("converted", "fast_step"),  # what bears its name is it, as a rule
        ("by_fallback", "fast_step"),
        ("by_stub", "fast_step"),
        ("by_case", "slow_loop"),
        ("by_local", "fast_step"),
        ("by_template", "slow_loop"),
        ("by_class", "slow_loop"),
        ("by_order", "slow_loop"),
        ("by_vendor", "slow_loop"),
        ("by_answer", "fast_step"),  # what it asks says yes on the CPU
        ("by_kind", "fast_step"),
        ("by_other_kind", "slow_loop"),
        ("by_possible", "slow_loop"),  # of the values that what it asks may give
        ("by_nothing", "fast_step"),  # a tensor without a value
        ("by_test", "fast_step"),  # of what is left out
        ("by_place_", "fast_step"),  # where the result is the argument
        ("by_place", "slow_loop"),
        ("by_asked", "fast_step"),  # of an operator, whatever more it asks
        ("by_training", "fast_step"),  # as modules are until somebody evaluates
        ("sampled", "fast_step"),  # images have two dimensions
        ("by_tuple", "slow_loop"),  # of which the second is a number
        ("turned_transpose", "slow_loop"),  # by the case with a word of its name
        ("by_flag", "slow_loop"),  # as the tree defines the macro
        ("by_element", "by_element"),  # which a library converts one by one
        ("first_of.Number", "fast_step"),  # and not what ``c10`` has
        ("by_bias", "fast_step"),  # which has one value for each output
        ("added_rows", "slow_loop"),  # of which a matrix is the usual case
        ("by_omitted", "fast_step"),  # by the default in C++
        ("by_set_flag", "fast_step"),  # which a branch sets that is usually taken
        ("by_many", "fast_step"),  # of which all but one are known to hold
        ("by_few", "slow_loop"),  # and much else
        ("by_unrolled", "fast_step"),  # in most cases of a switch
        ("by_limit", "fast_step"),  # of thousands
        ("by_equal_value", "fast_step"),  # for which more is done
    ],
)
def test_values_decide_the_conditions_of_what_is_called(
    index: Index, operator: str, function: str
) -> None:
    assert usual(index, operator).symbol.rpartition("::")[2] == function


def test_what_checks_that_tensors_are_elsewhere_computes_nothing(index: Index) -> None:
    assert "mul.Tensor" in [one.symbol for one in usual(index, "checked").via]
    found = usual(index, "checked", "CUDA")
    assert (found.kind, found.note) == ("none", "no code that computes was found below it")


def test_a_condition_that_always_holds_on_a_way_is_none(index: Index) -> None:
    assert usual(index, "by_literal").conditions == ()
    assert usual(index, "by_class").conditions == ()
    assert usual(index, "left_out").conditions == ()
    assert usual(index, "handed_on").conditions == ("fast",)  # a user may give another value


def test_the_value_of_an_argument_is_not_the_number_of_dimensions(index: Index) -> None:
    assert usual(index, "by_dim").conditions == ("not (dim == 0)",)


def test_what_only_one_of_many_conditions_keeps_from_running_is_another_way(index: Index) -> None:
    ways = [one for one in index.routes("by_most") if one.device == "CPU"]
    assert [one.symbol.rpartition("::")[2] for one in ways] == ["slow_loop", "fast_step"]


def test_what_finishes_the_results_of_another_is_not_the_answer(index: Index) -> None:
    assert "parts_of" in [one.symbol for one in usual(index, "rebuilt").via]


def test_what_is_named_among_others_is_not_the_answer(index: Index) -> None:
    assert "product_of" in [one.symbol for one in usual(index, "sine_of_cell").via]
    assert "sine_of" in [one.symbol for one in usual(index, "_each_sine_of").via]  # the last word


def test_what_only_tells_a_result_is_not_what_computes_it(index: Index) -> None:
    assert "product_of" in [one.symbol for one in usual(index, "all_near").via]


def test_a_copy_of_what_is_not_contiguous_is_not_the_answer(index: Index) -> None:
    assert usual(index, "packed_form").kind == "none"
    assert usual(index, "copied_form").symbol.endswith("slow_loop")


def test_an_object_of_a_library_is_made_by_it(index: Index) -> None:
    found = usual(index, "by_maker")
    assert (found.kind, found.note) == ("library", "fbgemm::PackAMatrix")


def test_what_lines_values_up_again_prepares(index: Index) -> None:
    assert "product_of" in [one.symbol for one in usual(index, "lined_up").via]


def test_the_kernel_of_a_view_computes_nothing_where_it_is_called_itself(index: Index) -> None:
    assert usual(index, "parts_by_view").kind == "none"


def test_the_format_of_inputs_is_no_answer(index: Index) -> None:
    assert usual(index, "laid_out").symbol.endswith("fast_step")


def test_a_function_comes_before_the_arithmetic_around_it(index: Index) -> None:
    assert "sine_of" in [one.symbol for one in usual(index, "window_of").via]


def test_another_case_of_a_switch_with_a_usual_one_is_rare(index: Index) -> None:
    assert usual(index, "by_back_end", "CUDA").symbol.endswith("usual_kernel")


def test_what_the_runtime_is_given_to_launch_computes(index: Index) -> None:
    assert usual(index, "by_runtime", "CUDA").symbol.endswith("wise_kernel")


def test_of_several_kernels_the_one_with_the_operators_words_is_the_answer(index: Index) -> None:
    found = usual(index, "smooth_gamma", "MPS")
    assert (found.symbol, found.conditions) == ("forward_gamma_of_smooth", ())


def test_what_a_shared_kernel_is_given_is_the_answer(index: Index) -> None:
    assert usual(index, "shared_gamma.Dense", "MPS").symbol == "shared_gamma_functor::operator()"


def test_an_operator_of_aten_that_a_block_defines_has_the_kernels_of_blocks(index: Index) -> None:
    assert usual(index, "block_gamma").symbol.endswith("slow_loop")


UNTAGGED_YAML = """
- func: norm_of(Tensor self) -> (Tensor, Tensor)
  dispatch:
    CPU: norm_of_cpu

- func: scale_of(Tensor self) -> Tensor
  dispatch:
    CPU: scale_of_cpu

- func: layer_of(Tensor self) -> Tensor
"""
UNTAGGED = """
namespace at::native {
Tensor scale_of_cpu(const Tensor& self) {
  cpu_kernel(iter, [](float x) { return x; });
  return self;
}
std::tuple<Tensor, Tensor> norm_of_cpu(const Tensor& self) {
  cpu_kernel(iter, [](float x) { return x; });
  return {self, self};
}
Tensor layer_of(const Tensor& self) {
  auto normalized = at::norm_of(self);
  return at::scale_of(self);
}
}
"""


def test_where_nothing_is_tagged_what_returns_several_is_not_of_single_elements(
    tree_copy: Path, cache: Path
) -> None:
    """As a normalization, whose loops over elements end what it does."""
    native = tree_copy / "aten/src/ATen/native"
    yaml = (native / "native_functions.yaml").read_text() + UNTAGGED_YAML
    lines = (line for line in yaml.splitlines() if not line.startswith("  tags:"))
    (native / "native_functions.yaml").write_text("\n".join(lines))
    (native / "Untagged.cpp").write_text(UNTAGGED)
    with opened(tree_copy, cache) as index:
        assert "norm_of" in [one.symbol for one in usual(index, "layer_of").via]


def test_what_a_file_has_for_a_vendor_is_rare(index: Index) -> None:
    assert usual(index, "by_file", "CUDA").symbol.endswith("usual_extension_kernel")
