"""The ways from operators to what computes them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from indexes import Index
from indexes.linking.facts import Edge
from indexes.linking.works import Works
from indexes.model.answers import Route
from indexes.model.vocabulary import Choice, Location
from indexes.queries.routing.conditions import in_words
from indexes.queries.routing.search import Search
from tests.indexing import append, opened
from tests.tree_marks import YAML

ROUTED = Path(__file__).parents[2] / "data" / "routed_kernels"
"""Files that are added to the small tree, and entries of its native_functions.yaml."""


def usual(index: Index, operator: str, device: str) -> Route:
    return next(one for one in index.routes(operator) if one.device == device)


def names(route: Route) -> list[str]:
    return [one.symbol.rpartition("::")[2] for one in route.via]


@pytest.mark.parametrize(
    ("operator", "device", "kind", "symbol", "via"),
    [
        ("mul.Tensor", "CPU", "loop", "mul_kernel", ["mul.Tensor", "mul_out", "mul_stub"]),
        ("mul.Tensor", "CUDA", "launch", "mul_kernel_cuda", ["mul.Tensor", "mul_out", "mul_stub"]),
        ("mul.Tensor", "MPS", "graph", "binaryOpTensor", ["mul.Tensor", "mul_out_mps"]),
        ("add.Tensor", "CPU", "loop", "add", ["add.Tensor"]),
        ("addmm", "CUDA", "library", "gemm", ["addmm", "addmm_out_cuda", "addmm_out_cuda_impl"]),
    ],
)
def test_the_usual_way_ends_in_what_computes(
    tree_index: Index, operator: str, device: str, kind: str, symbol: str, via: list[str]
) -> None:
    route = usual(tree_index, operator, device)
    assert (route.kind, route.symbol.rpartition("::")[2]) == (kind, symbol)
    assert names(route) == via


def test_a_device_without_kernels_has_no_routes(tree_index: Index) -> None:
    routes = [
        one for native in tree_index.all_natives() for one in tree_index.routes(native.full_name)
    ]
    assert "MPS" in {one.device for one in routes}
    assert "PrivateUse1" not in {one.device for one in routes}  # of no extension


def test_a_ufunc_works_on_single_elements(tree_index: Index) -> None:
    prices = Search(tree_index.facts).prices  # which ask for it where no operator is tagged
    assert [prices._loops_over_elements(one) for one in ("add.out", "addmm.out")] == [True, False]


def test_the_kernel_around_a_ufunc_is_launched_by_the_loop_that_torchgen_writes(
    tree_index: Index,
) -> None:
    route = usual(tree_index, "add.Tensor", "CUDA")
    (loop,) = tree_index.facts.named("gpu_kernel")
    edge = Edge(loop.id, 0, "call", "gpu_kernel", loop.id)
    launched = tree_index.facts.works.launched_by(edge)
    assert (route.kind, launched and launched.definition.name) == ("launch", route.note)


def test_a_composite_operator_leads_through_those_it_calls(tree_index: Index) -> None:
    route = usual(tree_index, "linear", "CPU")
    assert route.symbol.endswith("gemm")
    assert {"addmm", "addmm_out_cpu"} <= set(names(route))
    assert usual(tree_index, "linear", "MPS").symbol.endswith("_mps_linear")


def test_a_launch_ends_in_its_global_function(tree_index: Index) -> None:
    route = usual(tree_index, "softmax.int", "CUDA")
    assert route.symbol.endswith("softmax_warp_forward")
    assert names(route)[-2:] == ["host_softmax", "dispatch_softmax_forward"]


def test_what_is_called_where_a_view_is_changed_is_beside(tree_copy: Path, cache: Path) -> None:
    entry = "\n- func: {0}(Tensor(a!) self) -> Tensor(a!)\n  variants: method\n"
    entry += "  dispatch:\n    CPU: {0}\n"
    listed = f"{entry.format('grow_')}  tags: inplace_view\n"
    append(tree_copy, {YAML: listed + entry.format("twice_grown_")})
    (tree_copy / "aten/src/ATen/native/Grow.cpp").write_text(
        "namespace at::native {\n"
        "Tensor& grow_(Tensor& self) { self.mul_(self); return self; }\n"
        "Tensor& twice_grown_(Tensor& self) { self.grow_(); return self.grow_(); }\n}\n"
    )
    with opened(tree_copy, cache) as index:
        assert usual(index, "twice_grown_", "CPU").kind == "none"


def test_a_sparse_kernel_is_taken_before_a_dense_one_that_is_nearer(
    tree_copy: Path, cache: Path
) -> None:
    inner = "    CPU: hidden_inner_cpu\n    SparseCPU: hidden_inner_sparse\n"
    entry = "\n- func: {}(Tensor self) -> Tensor\n  dispatch:\n{}"
    outer = entry.format("hidden", "    SparseCPU: hidden_sparse\n")
    append(tree_copy, {YAML: outer + entry.format("hidden_inner", inner)})
    loop = "{ cpu_kernel(iter, [](float a) { return a; }); return self; }\n"
    below = "Tensor hidden_step{}(const Tensor& self) {{ return hidden_step{}(self); }}\n"
    (tree_copy / "aten/src/ATen/native/Hidden.cpp").write_text(
        f"namespace at::native {{\nTensor hidden_inner_cpu(const Tensor& self) {loop}"
        f"Tensor hidden_step5(const Tensor& self) {loop}"
        + "".join(below.format(n, n + 1) for n in range(4, 0, -1))
        + "Tensor hidden_inner_sparse(const Tensor& self) { return hidden_step1(self); }\n"
        "Tensor hidden_sparse(const Tensor& self) { return at::hidden_inner(self); }\n}\n"
    )
    with opened(tree_copy, cache) as index:
        assert usual(index, "hidden", "CPU").symbol.endswith("hidden_step5")


@pytest.mark.parametrize(
    ("operator", "note"),
    [
        ("view", "a view: computes nothing"),
        ("empty.memory_format", "a new tensor: computes nothing"),
        ("is_floating_point", "computes nothing"),
    ],
)
def test_what_computes_nothing_says_so(tree_index: Index, operator: str, note: str) -> None:
    route = usual(tree_index, operator, "CPU")
    assert (route.kind, route.note) == ("none", note)


def test_a_virtual_method_names_the_classes_that_may_run(tree_index: Index) -> None:
    route = usual(tree_index, "c10d::monitored_barrier", "CPU")
    assert route.note == "monitored: one of GlooBackend, NCCLBackend, 1 more"


def test_a_function_that_only_raises_computes_nothing(tree_index: Index) -> None:
    search = Search(tree_index.facts)
    raises, computes = tree_index.facts.named("mkldnn_gelu")  # without oneDNN, and with it
    (chosen,) = tree_index.facts.named("apply_cholesky_solve")  # raises without LAPACK
    checks = [search.only_checks(one) for one in (raises, computes, chosen)]
    assert checks == [True, False, False]


@pytest.mark.parametrize(
    ("operator", "alone"),
    [("is_floating_point", True), ("mul.Tensor", False), ("add_.Tensor", False)],
)
def test_an_operator_without_a_tensor_only_answers(
    tree_index: Index, operator: str, alone: bool
) -> None:
    assert Works(tree_index.facts).answers_alone(operator) is alone


def test_an_operator_without_a_kernel_for_a_device_has_no_way_there(tree_index: Index) -> None:
    assert {one.device for one in tree_index.routes("cudnn_convolution")} == {"CUDA"}


@pytest.mark.parametrize(
    ("text", "arm", "words"),
    [
        ("if (self.is_complex())", "then", "self.is_complex()"),
        ("if (self.is_complex())", "else", ""),
        ("if (n == 1)", "else", "not (n == 1)"),
        ("if (!forward)", "else", "forward"),
        ("if (n == 1)", "otherwise", ""),
        ("switch (backend) case ConvBackend::Slow2d", "case", "ConvBackend::Slow2d"),
        ("switch (dims) case 1", "case", "dims == 1"),
    ],
)
def test_conditions_are_said_in_words(text: str, arm: str, words: str) -> None:
    assert in_words(Choice(text, arm, Location("x.cpp", 1)), "CPU") == words


def test_a_stub_of_its_own_comes_before_what_a_kernel_calls_beside_it(
    tree_copy: Path, cache: Path
) -> None:
    shutil.copytree(ROUTED, tree_copy, dirs_exist_ok=True)
    append(tree_copy, {YAML: (ROUTED / "added.yaml").read_text()})
    with opened(tree_copy, cache) as index:
        route = usual(index, "factor", "CPU")
        assert route.symbol.endswith("factor_loop")
        assert names(route)[-2:] == ["factor_stub", "factor_kernel"]
        check, *_ = index.facts.messages_in("aten/src/ATen/native/Factor.cpp")
        assert check[0] == "TORCH_CHECK"
        scaled = usual(index, "scaled", "CPU")
        assert scaled.symbol.endswith("lower_loop")  # and not the sum, which prepares
        assert usual(index, "halved", "CPU").symbol.endswith("cut_deep")
        middle = usual(index, "middle", "CPU")
        assert "factor" in names(middle)  # and not what only picks elements
        blocks = usual(index, "blocks", "CPU")
        assert (blocks.kind, blocks.symbol.rpartition("::")[2]) == ("loop", "blocks_cpu")
        loss = usual(index, "own_loss", "CPU")
        assert loss.symbol.endswith("mul_kernel")  # and not the sum that it ends with
        assert "factor" in names(usual(index, "ranked", "CPU"))  # and not what only tells
        missing = usual(index, "through_cpu", "CUDA")
        assert missing.note == "only_cpu: no CUDA kernel in this tree"
        powered = usual(index, "powered", "CPU")
        assert names(powered)[-1] == "when_plain"  # and not the case of one value
        assert "not (n == 1)" in powered.conditions
        filled = usual(index, "filled_first", "CPU")
        assert "copy_" in names(filled)  # and not the fill, which prepares
        assert usual(index, "only_stub", "MPS").note == "factor_stub: no MPS kernel in this tree"
        for device in ("CPU", "MPS"):  # registered as nullptr, and not at all
            note = usual(index, "bare_stub", device).note
            assert note == f"unregistered_stub: no {device} kernel in this tree"
        assert "factor_kernel" in names(usual(index, "by_stub_of_object", "CPU"))  # by a double
        alike = usual(index, "like_another", "CPU")  # tensors are of one dtype as a rule
        assert (names(alike)[-1], alike.conditions) == ("when_plain", ())
        assert "totals" in names(usual(index, "largest_first", "CPU"))  # which comes last
        assert names(usual(index, "by_object", "CPU"))[-1] == "paint"  # of what derives from it
        both = usual(index, "both_ways", "CPU")
        assert (both.note, both.conditions) == ("sgemm_ or dgemm_", ())
        assert "when_other" in names(usual(index, "few_elements", "CPU"))  # and not the small case
        assert "when_other" in names(usual(index, "over_another", "CPU"))  # set for what it calls
        assert usual(index, "either_way", "CPU").conditions == ()  # both arms lead there
        assert "factor" in names(usual(index, "shaped", "CPU"))  # few callers give a dimension
        assert "factor" in names(usual(index, "made", "CPU"))  # its options are one, as before 1.8
        assert not index.routes("unread")  # and not: computes nothing
        assert usual(index, "counted_all", "CPU").symbol.endswith("counted_all_cpu")
        steps = usual(index, "in_two_steps", "CPU")
        assert steps.symbol.endswith("last_step")  # which writes what is given back
        several = usual(index, "called_first", "CPU")
        assert several.symbol.endswith("called_first_cpu")
        assert several.confidence == "by rule"  # what it calls first computes too
        asked = usual(index, "of_many", "CPU")  # its kernel calls ``given`` by another name
        assert names(asked)[-2:] == ["when_other", "when_plain"]
        assert "factor" in names(usual(index, "tight_sum", "CPU"))  # and not what sums it up
        assert "when_plain" in names(usual(index, "of_types", "CPU"))  # and not that of bool
        assert "sum" in names(usual(index, "spaced.Tensor", "CPU"))  # its start is a number
        assert usual(index, "spread_add", "MPS").symbol == "spread_add"  # and not spread_set
        warned = usual(index, "warned", "CPU")
        assert "when_other" in names(warned)  # and not the arm that warns
        order = Search(index.facts).prices.order
        (always,) = index.facts.named("always_warned_cpu")
        arms = [one for edge in index.facts.edges(always.id) for one in order.choices(edge)]
        assert arms
        assert not any(order.warns(one, always.id) for one in arms)  # both do
        assert "when_other" in names(usual(index, "by_labels", "CPU"))  # two of three values
        filled = usual(index, "fill.Tensor", "CPU")
        assert "copy_" in names(filled)  # both are on one device, as a rule
        assert names(usual(index, "quantized_weigh", "CPU"))[-1] == "weigh"
        assert usual(index, "quantized_weigh", "CPU").symbol.endswith("when_one")
        dynamic = usual(index, "quantized_weigh_dynamic", "CPU")
        assert not dynamic.symbol.endswith("when_one")  # what another class does
        assert "when_other" in names(usual(index, "linalg_halves", "CPU"))  # of one matrix
        assert usual(index, "by_batches", "CPU").note == "sgetrf_"  # and not the loop around it
        assert "when_other" in names(usual(index, "normed", "CPU"))  # and not the statistics
        needed = usual(index, "needs_all", "CUDA")
        assert needed.note == "only_cpu: no CUDA kernel in this tree"
        launched = usual(index, "by_macro", "CUDA")  # and not what is launched for a few
        assert launched.symbol.endswith("many_rows")
        assert launched.conditions == ("not (rows <= 16)",)
        assert usual(index, "turned.Tensor", "MPS").symbol == "turn_left_tensor"
        parts = usual(index, "from_parts", "CPU")
        assert parts.note == "a new tensor: computes nothing"
        assert usual(index, "ramp", "CPU").symbol.endswith("ramp_cpu_out")
        assert usual(index, "ramp", "MPS").note == "ramp.out: no MPS kernel in this tree"
        assert names(usual(index, "of_either_build", "CUDA"))[-1] == "started"
        assert usual(index, "of_rocm", "CUDA").conditions == ("built for ROCm",)
        assert "factor" in names(usual(index, "sloped", "CPU"))  # and not what tells dimensions
        assert usual(index, "by_width", "CPU").symbol.endswith("narrow_part")  # of float
        assert usual(index, "routed::packed_4", "CPU").symbol.endswith("packed_cpu")  # of a header
        assert usual(index, "routed::deep", "CPU").kind == "loop"  # and no copy, for all its ifs
        lacking = usual(index, "routed::lacks", "CUDA")  # which seldom calls what has no kernel
        assert lacking.note == "lacks_cuda: no loop, launch or library in its body"
