"""Routes to loops of C++'s own, to kernels that torchgen makes, and where nothing computes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes import Index
from indexes.linking.graph import Graph, Node
from indexes.queries.card import device_note
from tests.indexing import grown, usual
from tests.tree_marks import NATIVE

OPTIONS_IN_SCHEMA = (
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
)
YAML = """
- func: counted(Tensor self) -> Tensor
  dispatch:
    CPU: counted_cpu

- func: drawn_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: drawn_cpu_

- func: running(Tensor self) -> Tensor
  dispatch:
    CPU: running_cpu

- func: sorted_middle(Tensor self) -> Tensor
  dispatch:
    CPU: sorted_middle_cpu

- func: summed_rows(Tensor self) -> Tensor

- func: widened(Tensor self) -> Tensor

- func: in_training(Tensor self, bool training=False) -> Tensor
  dispatch:
    CPU: in_training_cpu

- func: plain_halves(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: plain_halves
  autogen: plain_halves.out

- func: first_rows(Tensor(a) self) -> Tensor(a)
  dispatch:
    CompositeExplicitAutograd: first_rows

- func: gathered(Tensor(a) self) -> Tensor(a)
  dispatch:
    CompositeImplicitAutograd: gathered

- func: regrouped(Tensor(a) self) -> Tensor(a)
  dispatch:
    CompositeImplicitAutograd: regrouped

- func: shared_out(Tensor self) -> Tensor
  dispatch:
    CPU: shared_out_cpu

- func: shared_by_grain(Tensor self, int rows) -> Tensor
  dispatch:
    CPU: shared_by_grain_cpu

- func: recopied(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor
  dispatch:
    CompositeExplicitAutograd: recopied

- func: recast(Tensor(a) self, bool low) -> Tensor(a)

- func: recast_as(Tensor(a) self, Tensor other) -> Tensor(a)

- func: named_form(Tensor self, Dimname dim) -> Tensor

- func: thin_sum(Tensor self) -> Tensor
  dispatch:
    CPU: thin_sum_only_sparse
    SparseCPU: thin_sum_sparse_cpu

- func: doubled(Tensor self) -> Tensor
  dispatch:
    CPU: doubled_cpu
    SparseCPU: doubled_sparse_cpu

- func: sparse_doubled(Tensor self) -> Tensor
  python_module: sparse

- func: drawn(Tensor self) -> Tensor

- func: of_library(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: of_library
  autogen: of_library.out

- func: as_columns(Tensor self) -> Tensor
  dispatch:
    CPU: as_columns_cpu

- func: in_two_steps(Tensor self) -> Tensor
  dispatch:
    CUDA: in_two_steps_cuda

- func: by_sizes(Tensor self) -> Tensor

- func: by_branches(Tensor self, int reduction) -> Tensor

- func: by_type(Tensor self) -> Tensor

- func: by_made_type(Tensor self) -> Tensor

- func: pooled(Tensor self) -> Tensor

- func: spread_backward(Tensor self) -> Tensor

- func: batched(Tensor self) -> Tensor

- func: places_of(Tensor self) -> Tensor
  dispatch:
    CPU: places_of_cpu

- func: power_of(Tensor self) -> Tensor
  dispatch:
    CPU: power_of_cpu

- func: flat_sine(Tensor self) -> Tensor
  dispatch:
    CUDA: flat_sine_cuda

- func: spaced(Scalar end, {options}) -> Tensor
  dispatch:
    CompositeExplicitAutograd: spaced

- func: spaced.start(Scalar start, Scalar end, {options}) -> Tensor
  dispatch:
    CompositeExplicitAutograd: spaced

- func: spaced.start_step(Scalar start, Scalar end, Scalar step, {options}) -> Tensor
  dispatch:
    CompositeExplicitAutograd: spaced

- func: spaced.out_(Scalar end, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CompositeExplicitAutograd: spaced_out_to

- func: spaced.start_out(Scalar start, Scalar end, Scalar step, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: spaced_out
""".replace("{options}", OPTIONS_IN_SCHEMA)
OPTIONS = (
    "std::optional<ScalarType> dtype, std::optional<Layout> layout,"
    " std::optional<Device> device, std::optional<bool> pin_memory"
)
KERNELS = """
namespace at::native {
template <typename scalar_t>
static void counted_frame(const scalar_t* from, scalar_t* to, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    to[i] = from[i];
  }
}
Tensor counted_cpu(const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "counted", [&] {
    counted_frame<scalar_t>(from, to, self.numel());
  });
  return self;
}
template <typename T1, typename Operation>
static void running_helper(const T1* from, int count) {
  for (const auto i : c10::irange(count)) {}
}
template <typename T>
struct even_distribution {
  T operator()(Generator* gen) { return cpu_kernel(gen, [](T a) { return a; }); }
};
static void drawn_rows(const Tensor& self) {
  float* data = self.data_ptr<float>();
  for (int64_t i = 0; i < self.numel(); i++) {
    even_distribution<float> even(0, 1);
    data[i] = even(gen);
  }
}
Tensor& drawn_cpu_(Tensor& self) {
  drawn_rows(self);
  return self;
}
Tensor running_cpu(const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "running", [&] {
    running_helper<scalar_t, std::plus<scalar_t>>(from, self.numel());
  });
  return self;
}
Tensor sorted_middle_cpu(const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "sorted_middle", [&] {
    scalar_t* first = self.data_ptr<scalar_t>();
    std::nth_element(first, first + 1, first + 2);
  });
  return self;
}
static int64_t widest(const Tensor& sizes) {
  int64_t* row = sizes.data_ptr<int64_t>();
  for (int i = 0; i < 8; ++i) row[i] += 1;
  return row[0];
}
Tensor summed_rows(const Tensor& self) {
  widest(self);
  float* row = self.data_ptr<float>();
  for (int i = 0; i < 8; ++i) row[i] += 1;
  return self;
}
Tensor widened(const Tensor& self) {
  widest(self);
  float* row = self.data_ptr<float>();
  for (int i = 0; i < 8; ++i) self.copy_(self);
  return self;
}
static void wide_step(Tensor& out) {
  at::parallel_for(0, out.numel(), 0, [&](int64_t a, int64_t b) {});
}
Tensor in_training_cpu(const Tensor& self, bool training) {
  if (training) {
    AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "in_training", [&] { draw(); });
  } else if (is_odd(self)) {
    if (is_wide(self)) {
      if (is_late(self)) wide_step(self);
    }
  }
  return self;
}
Tensor first_rows(const Tensor& self) { return self; }
Tensor plain_halves(const Tensor& self) { return at::first_rows(self); }
static bool has_gathered(const Tensor& self) { return false; }
Tensor gathered(const Tensor& self) {
  if (has_gathered(self)) {
    return self;
  }
  return at::counted(self);
}
Tensor regrouped(const Tensor& self) {
  if (self.is_sparse()) {
    return at::counted(self);
  }
  return at::first_rows(self);
}
Tensor shared_out_cpu(const Tensor& self) {
  auto loop = [&](int64_t begin, int64_t end) { fold(begin, end); };
  if (numel > 1000) {
    at::parallel_for(0, self.numel(), 0, loop);
  } else {
    loop(0, self.numel());
  }
  return self;
}
Tensor shared_by_grain_cpu(const Tensor& self, int64_t rows) {
  if (rows >= at::internal::GRAIN_SIZE) {
    at::parallel_for(0, rows, 0, [&](int64_t begin, int64_t end) { fold(begin, end); });
  }
  return self;
}
Tensor recast(const Tensor& self, bool low) {
  if (self.is_sparse() && low) {
    return at::recopied(self);
  }
  return self;
}
Tensor recast_as(const Tensor& self, const Tensor& other) { return at::recast(self, true); }
[[noreturn]] static void report_named(const char* name) {
  TORCH_CHECK(false, name, " has no names");
}
Tensor named_form(const Tensor& self, Dimname dim) { report_named("named_form"); }
Tensor thin_sum_only_sparse(const Tensor& self) {
  TORCH_CHECK(false, "only of sparse tensors");
}
Tensor thin_sum_sparse_cpu(const Tensor& self) {
  float* row = self.data_ptr<float>();
  for (int i = 0; i < 8; ++i) row[i] += 1;
  return self;
}
Tensor doubled_cpu(const Tensor& self) {
  at::parallel_for(0, self.numel(), 0, [&](int64_t a, int64_t b) {});
  return self;
}
Tensor doubled_sparse_cpu(const Tensor& self) {
  at::parallel_for(0, self._nnz(), 0, [&](int64_t a, int64_t b) {});
  return self;
}
Tensor sparse_doubled(const Tensor& self) { return at::doubled(self); }
Tensor drawn(const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "drawn", [&] {
    scalar_t* row = self.data_ptr<scalar_t>();
    for (int i = 0; i < 8; ++i) row[i] += 1;
  });
  return at::doubled(self);
}
Tensor of_library(const Tensor& self) {
  cblas_sgemm(self);
  return self;
}
static void im2col_step(const Tensor& self) {
  at::parallel_for(0, self.numel(), 0, [&](int64_t a, int64_t b) {});
}
static void multiply_step(const Tensor& self) { cblas_sgemm(self); }
Tensor as_columns_cpu(const Tensor& self) {
  multiply_step(self);
  im2col_step(self);
  return self;
}
static void of_columns(const Tensor& self) {
  at::parallel_for(0, self.numel(), 0, [&](int64_t a, int64_t b) {});
}
static void of_many_columns(const Tensor& self) { of_columns(self); }
Tensor by_sizes(const Tensor& self) {
  auto size1 = self.size(0);
  if (self.device().type() == at::kMPS || size1 != 1) {
    of_many_columns(self);
  } else {
    wide_step(self);
  }
  return self;
}
}
"""
BRANCHES = """
namespace at::native {
Tensor by_branches(const Tensor& self, int64_t reduction) {
  const float* from = self.const_data_ptr<float>();
  if (reduction == Reduction::None && is_flat(self)) {
    at::parallel_for(0, 8, 0, [&](int64_t begin, int64_t end) {
      for (const auto i : c10::irange(begin, end)) row[i] = from[i];
    });
    return self;
  }
  if (self.numel() == 0) {
    return self;
  }
  for (const auto i : c10::irange(8)) row[0] += from[i];
  return self;
}
template <typename T>
std::enable_if_t<std::is_same_v<T, double>> rows_of(const T* from) {
  at::parallel_for(0, 1, 0, [&](int64_t begin, int64_t end) { wide(from); });
}
template <typename T>
std::enable_if_t<std::is_same_v<T, float>> rows_of(const T* from) {
  at::parallel_for(0, 2, 0, [&](int64_t begin, int64_t end) { wide(from); });
}
Tensor by_type(const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "by_type", [&] {
    rows_of<scalar_t>(self.const_data_ptr<scalar_t>());
  });
  return self;
}
template <typename T>
std::enable_if_t<std::is_same_v<T, double>> made_rows(const T* from) {
  for (const auto i : c10::irange(8)) row[i] += from[i];
}
template <typename T>
std::enable_if_t<std::is_same_v<T, float>> made_rows(const T* from) {
  for (const auto i : c10::irange(8)) row[i] += from[i];
}
Tensor by_made_type(const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "by_made_type", [&] {
    made_rows<scalar_t>(self.const_data_ptr<scalar_t>());
  });
  return self;
}
static void rows_generic(const Tensor& self) { cblas_sgemm(self); }
static void rows_at_once(const Tensor& self) { cblas_sgemm(self); }
Tensor batched(const Tensor& self) {
  c10::guts::if_constexpr<AT_MKL_ENABLED()>(
      [&](auto _) { rows_at_once(self); },
      [&](auto _) { rows_generic(self); });
  return self;
}
Tensor places_of_cpu(const Tensor& self) { wide_step(self); return self; }
Tensor power_of_cpu(const Tensor& self) {
  rows_between(self);
  Tensor places = at::places_of(self);
  return self;
}
static void rows_between(const Tensor& self) { at::doubled(self); }
Tensor spread_backward(const Tensor& self) { wide_step(self); return self; }
Tensor pooled(const Tensor& self) {
  if (is_small(self)) {
    return at::doubled(self);
  }
  return at::spread_backward(self);
}
}
"""
DERIVATIVES = """
- name: places_of(Tensor self) -> Tensor
  output_differentiability: [False]

- name: power_of(Tensor self) -> Tensor
  self: grad
"""
FACTORIES = f"""
namespace at::native {{
Tensor spaced(const Scalar& end, {OPTIONS}) {{
  return native::spaced(/*start=*/0, end, dtype, layout, device, pin_memory);
}}
Tensor spaced(const Scalar& start, const Scalar& end, {OPTIONS}) {{
  return native::spaced(start, end, /*step=*/1, dtype, layout, device, pin_memory);
}}
Tensor spaced(const Scalar& start, const Scalar& end, const Scalar& step, {OPTIONS}) {{
  Tensor result = at::empty({{0}}, options);
  return at::spaced_out(result, start, end, step);
}}
Tensor& spaced_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& result) {{
  at::parallel_for(0, result.numel(), 0, [&](int64_t a, int64_t b) {{}});
  return result;
}}
Tensor& spaced_out_to(const Scalar& end, Tensor& result) {{
  return spaced_out(0, end, 1, result);
}}
}}
"""
CUDA_KERNELS = """
namespace at::native {
__global__ void swaps_counts(float* x) {}
__global__ void then_moves(float* x) {}
Tensor in_two_steps_cuda(const Tensor& self) {
  collective_launch((const void*)swaps_counts, dim3(1), stream);
  collective_launch((const void*)then_moves, dim3(2), stream);
  return self;
}
const char flat_sine_name[] = "flat_sine";
Tensor flat_sine_cuda(const Tensor& self) {
  if (at::isComplexType(self.scalar_type())) {
    static const auto text = jiterator_stringify(
      template <typename T> T flat_sine(T a) { return std::sin(a); });
    jitted_gpu_kernel<flat_sine_name>(iter, text);
  } else {
    gpu_kernel(iter, [](float a) { return ::flat_sine(a); });
  }
  return self;
}
}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    files = {
        "native_functions.yaml": YAML,
        "Plain.cpp": KERNELS + BRANCHES + FACTORIES,
        "cuda/Plain.cu": CUDA_KERNELS,
    }
    texts = {NATIVE + path: text for path, text in files.items()}
    with grown(
        tmp_path_factory, {**texts, "tools/autograd/derivatives.yaml": DERIVATIVES}
    ) as index:
        yield index


@pytest.mark.parametrize(
    ("operator", "function"),
    [
        ("counted", "counted_frame"),
        ("running", "running_helper"),
        ("drawn_", "drawn_rows"),  # around what an object draws
        ("sorted_middle", "sorted_middle_cpu"),
        ("summed_rows", "summed_rows"),  # composite, and of operators nothing
    ],
)
def test_a_loop_of_cpp_over_elements_computes(index: Index, operator: str, function: str) -> None:
    found = usual(index, operator)
    assert (found.symbol.rpartition("::")[2], found.kind, found.note) == (function, "loop", "")


def test_a_loop_is_no_answer_in_a_helper_or_around_a_copy(index: Index) -> None:
    assert "copy_" in [one.symbol for one in usual(index, "widened").via]


def test_a_switch_over_dtypes_in_an_unusual_arm_is_not_the_answer(index: Index) -> None:
    assert usual(index, "in_training").symbol.endswith("wide_step")


def test_a_composite_that_returns_its_argument_or_another_tensor(index: Index) -> None:
    gathered, counted = usual(index, "gathered"), usual(index, "counted")
    assert (gathered.kind, gathered.symbol) == ("loop", counted.symbol)
    assert usual(index, "gathered", "MPS").note == "counted: no MPS kernel in this tree"
    for device in ("CPU", "MPS"):
        assert usual(index, "regrouped", device).note == "a view: computes nothing"


@pytest.mark.parametrize("operator", ["shared_out", "shared_by_grain"])
def test_whether_threads_share_a_loop_is_no_condition(index: Index, operator: str) -> None:
    found = usual(index, operator)
    assert (found.kind, found.conditions) == ("loop", ())


@pytest.mark.parametrize("operator", ["recast", "recast_as"])
def test_a_composite_view_that_may_copy_says_so(index: Index, operator: str) -> None:
    assert usual(index, operator).note == "computes nothing, or copies by recopied"


def test_what_is_made_of_views_says_so_and_its_out_copies(index: Index) -> None:
    assert usual(index, "plain_halves").note == "made of views: computes nothing"
    assert [one.symbol for one in usual(index, "plain_halves.out").via][1] == "copy_"
    above = Graph(index.facts).up(Node("operator", "copy_"))
    assert Node("operator", "plain_halves.out") in [step.upper for step in above]


def test_what_always_raises_is_said_to_check(index: Index) -> None:
    assert usual(index, "named_form").note == "named_form: only checks in its body"


def test_a_dense_kernel_that_raises_gives_way_to_another_layouts(index: Index) -> None:
    assert usual(index, "thin_sum").symbol.endswith("thin_sum_sparse_cpu")


def test_an_operator_of_sparse_tensors_runs_the_kernels_for_those(index: Index) -> None:
    assert usual(index, "doubled").symbol.endswith("doubled_cpu")
    assert usual(index, "sparse_doubled").symbol.endswith("doubled_sparse_cpu")


def test_a_composite_kernel_that_loops_within_a_switch_over_dtypes_computes(index: Index) -> None:
    assert usual(index, "drawn").symbol.endswith("drawn")


def test_what_is_copied_at_the_end_is_not_what_an_out_computes(index: Index) -> None:
    assert usual(index, "of_library.out").symbol.endswith("of_library")
    found = usual(index, "of_library.out", "CUDA")
    assert (found.kind, found.note) == ("none", "no code that computes was found below it")


def test_what_multiplies_comes_before_what_lays_out_its_columns(index: Index) -> None:
    assert usual(index, "as_columns").symbol.endswith("multiply_step")


def test_a_step_before_or_after_the_answer_is_said_to_run_with_it(index: Index) -> None:
    found = [one for one in index.routes("as_columns") if one.device == "CPU"]
    ends = [(one.symbol.rpartition("::")[2], one.beside) for one in found]
    assert ends == [("multiply_step", False), ("im2col_step", True)]
    assert device_note(found) == "cblas_sgemm · with im2col_step"
    ways = [one for one in index.routes("pooled") if one.device == "CPU"]
    assert [one.beside for one in ways] == [False, False]
    assert device_note(ways) == "is_small(self) · else wide_step"


def test_of_kernels_that_are_given_to_be_launched_the_last_is_the_answer(index: Index) -> None:
    assert usual(index, "in_two_steps", "CUDA").symbol.endswith("then_moves")


def test_a_size_of_one_is_not_usual(index: Index) -> None:
    found = usual(index, "by_sizes")
    assert (found.symbol.rpartition("::")[2], found.conditions) == ("of_columns", ())


def test_a_condition_inside_of_what_loops_in_both_branches_is_none(index: Index) -> None:
    found = usual(index, "by_branches")
    assert (found.symbol.rpartition("::")[2], found.conditions) == ("by_branches", ())


@pytest.mark.parametrize("operator", ["by_type", "by_made_type"])
def test_of_templates_the_one_for_float_is_usual(index: Index, operator: str) -> None:
    line = usual(index, operator).location.line
    source = (KERNELS + BRANCHES).splitlines()
    assert "float" in source[line - 1]


def test_what_runs_without_a_library_comes_after_what_calls_it(index: Index) -> None:
    assert usual(index, "batched").symbol.endswith("rows_at_once")


def test_what_has_no_gradient_is_not_what_computes_an_operator_with_a_formula(index: Index) -> None:
    assert "doubled" in [one.symbol for one in usual(index, "power_of").via]


def test_an_operator_for_gradients_is_not_what_another_is_for(index: Index) -> None:
    assert "doubled" in [one.symbol for one in usual(index, "pooled").via]


def test_no_code_calls_what_is_compiled_from_a_text(index: Index) -> None:
    assert usual(index, "flat_sine", "CUDA").symbol.endswith("flat_sine_cuda")


def test_a_new_tensor_that_is_filled_by_way_of_its_overloads_computes(index: Index) -> None:
    assert usual(index, "spaced").symbol.endswith("spaced_out")


def test_what_computes_on_the_cpu_is_not_said_to_compute_nothing_elsewhere(index: Index) -> None:
    assert usual(index, "spaced.out_").symbol.endswith("spaced_out")
    assert "nothing" not in usual(index, "spaced.out_", "CUDA").note
