"""Routes through functions that are given values: by a call, by a schema, by a name of a body."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes import Index
from indexes.model.answers import Route
from indexes.source.source import Source
from tests.tree_marks import TREE

YAML = """
- func: by_literal(Tensor self) -> Tensor
  dispatch:
    CPU: by_literal_cpu

- func: by_other_literal(Tensor self) -> Tensor
  dispatch:
    CPU: by_other_literal_cpu

- func: by_default(Tensor self, bool fast=False) -> Tensor
  dispatch:
    CPU: by_default_cpu

- func: left_out(Tensor self, bool fast=True) -> Tensor

- func: handed_on(Tensor self, bool quick=True) -> Tensor

- func: turned_round(Tensor self, bool fast=True) -> Tensor

- func: converted(Tensor self, bool fast=True) -> Tensor

- func: by_fallback(Tensor self, *, str? driver=None) -> Tensor

- func: by_stub(Tensor self) -> Tensor

- func: by_case(Tensor self) -> Tensor

- func: by_template(Tensor self) -> Tensor

- func: by_class(Tensor self) -> Tensor

- func: by_order(Tensor self) -> Tensor

- func: by_file(Tensor self) -> Tensor
  dispatch:
    CUDA: by_file_cuda

- func: by_vendor(Tensor self) -> Tensor

- func: shared_gamma.Dense(Tensor self) -> Tensor
  dispatch:
    MPS: shared_gamma_mps

- func: smooth_gamma(Tensor self) -> Tensor
  dispatch:
    MPS: smooth_gamma_mps

- func: by_local(Tensor self, int mode=1) -> Tensor

- func: parts_of(Tensor self) -> (Tensor, Tensor)
  dispatch:
    CPU: parts_of_cpu

- func: rebuilt(Tensor self) -> Tensor

- func: product_of(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU: product_of_cpu

- func: sine_of(Tensor self) -> Tensor
  tags: pointwise
  dispatch:
    CPU: sine_of_cpu

- func: window_of(Tensor self) -> Tensor

- func: by_answer(Tensor self) -> Tensor

- func: by_kind(Tensor self, *, str way="plain") -> Tensor

- func: by_other_kind(Tensor self, *, str way="wide") -> Tensor

- func: by_asked(Tensor self) -> Tensor

- func: _is_worth(Tensor self, int n) -> bool
  dispatch:
    CPU: is_worth_cpu

- func: checked(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: checked

- func: first_of(Tensor self, Tensor other) -> Tensor

- func: first_of.Scalar(Tensor self, Scalar other) -> Tensor
  dispatch:
    CPU: first_of_cpu

- func: by_tuple(Tensor self) -> Tensor

- func: by_training(Tensor self, bool train) -> Tensor

- func: sampled(Tensor self) -> Tensor

- func: sampled_2d(Tensor self) -> Tensor
  dispatch:
    CPU: sampled_2d_cpu

- func: sampled_3d(Tensor self) -> Tensor
  dispatch:
    CPU: sampled_3d_cpu

- func: sine_of_cell(Tensor self) -> Tensor

- func: _each_sine_of(Tensor self) -> Tensor

- func: told(Tensor self) -> bool
  dispatch:
    CPU: told_cpu

- func: all_near(Tensor self) -> bool

- func: dense_form(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor

- func: copied_form(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor
  dispatch:
    CPU: copied_form_cpu

- func: packed_form(Tensor self) -> Tensor

- func: laid_out(Tensor self) -> Tensor
  dispatch:
    CPU: laid_out_cpu

- func: by_back_end(Tensor self) -> Tensor
  dispatch:
    CUDA: by_back_end_cuda

- func: by_runtime(Tensor self) -> Tensor
  dispatch:
    CUDA: by_runtime_cuda

- func: turned_transpose(Tensor self) -> Tensor

- func: by_flag(Tensor self) -> Tensor

- func: by_element(Tensor self) -> Tensor

- func: by_maker(Tensor self) -> Tensor

- func: first_of.Number(Tensor self, Scalar other, int n) -> Tensor

- func: view_part(Tensor(a) self) -> Tensor(a)
  dispatch:
    CompositeExplicitAutograd: view_part

- func: parts_by_view(Tensor self) -> Tensor[]

- func: repeat(Tensor self, SymInt[] repeats) -> Tensor
  dispatch:
    CPU: repeat_cpu

- func: lined_up(Tensor self) -> Tensor
"""
KERNELS = """
#include <ATen/native/DispatchStub.h>
namespace at {
static inline Tensor operator*(const Tensor& x, const Tensor& y) { return x.mul(y); }
}
namespace c10 {
inline float first_of(float x, float y) { return x; }
struct PackAMatrix {};
}
namespace at { using namespace c10; }
#if defined(CUSPARSE_VERSION) && CUSPARSE_VERSION >= 11000
#define HAS_WIDE() 1
#else
#define HAS_WIDE() 0
#endif
#define USES_TEXT() true
namespace at::native {
static void fast_step(const Tensor& self) { at::parallel_for(0, 1, 1, [&](int64_t a) {}); }
static void slow_loop(const Tensor& self) { at::parallel_for(0, 1, 1, [&](int64_t a) {}); }
static void slow_step(const Tensor& self) { slow_loop(self); }
static Tensor run(const Tensor& self, bool fast) {
  if (fast) {
    fast_step(self);
  } else {
    slow_step(self);
  }
  return self;
}
Tensor by_literal_cpu(const Tensor& self) { return run(self, true); }
Tensor by_other_literal_cpu(const Tensor& self) { return run(self, /*fast=*/false); }
Tensor by_default_cpu(const Tensor& self, bool is_fast) { return run(self, is_fast); }
Tensor left_out(const Tensor& self, bool fast) { return at::by_default(self); }
Tensor handed_on(const Tensor& self, bool quick) { return at::by_default(self, quick); }
Tensor turned_round(const Tensor& self, bool fast) { return run(self, !fast); }
Tensor converted(const Tensor& self, bool fast) { return run(self, as_number(fast)); }
Tensor by_fallback(const Tensor& self, std::optional<std::string_view> driver) {
  const auto way = driver.value_or("fast");
  return way == "fast" ? run(self, true) : run(self, false);
}
using run_fn = void (*)(const Tensor&, bool);
DEFINE_DISPATCH(run_stub);
static void run_kernel(const Tensor& self, bool quickly) { run(self, quickly); }
REGISTER_DISPATCH(run_stub, &run_kernel);
Tensor by_stub(const Tensor& self) {
  run_stub(self.device().type(), self, true);
  return self;
}
static Tensor run_mode(const Tensor& self, Mode mode) {
  switch (mode) {
    case Mode::Fast:
      fast_step(self);
      break;
    case Mode::Slow:
      slow_step(self);
      break;
  }
  return self;
}
Tensor by_case(const Tensor& self) { return run_mode(self, Mode::Slow); }
Tensor by_local(const Tensor& self, int64_t mode) {
  const bool is_fast = mode == 1;
  if (is_fast) {
    fast_step(self);
  } else {
    slow_step(self);
  }
  return self;
}
std::tuple<Tensor, Tensor> parts_of_cpu(const Tensor& self) {
  slow_step(self);
  return {self, self};
}
Tensor product_of_cpu(const Tensor& self, const Tensor& other) { fast_step(self); return self; }
Tensor rebuilt(const Tensor& self) {
  auto [a, b] = at::parts_of(self);
  return at::product_of(a, b);
}
static bool is_fit(const Tensor& x, double p) {
  if (x.is_sparse()) {
    return false;
  }
  return (x.device().is_cpu() || x.is_xpu()) && p > 0 && p < 1;
}
Tensor by_answer(const Tensor& self) {
  if (is_fit(self, 0.5)) {
    fast_step(self);
  } else {
    slow_step(self);
  }
  return self;
}
enum class Way { Plain, Wide };
static Way way_of(std::string_view way) {
  if (way == "plain") {
    return Way::Plain;
  }
  return Way::Wide;
}
static Tensor by_way(const Tensor& self, std::string_view way) {
  const auto kind = way_of(way);
  if (kind == Way::Plain) {
    fast_step(self);
  } else {
    slow_step(self);
  }
  return self;
}
Tensor by_kind(const Tensor& self, std::string_view way) { return by_way(self, way); }
Tensor by_other_kind(const Tensor& self, std::string_view way) { return by_way(self, way); }
bool is_worth_cpu(const Tensor& self, int64_t size) {
  bool worth = size == 1;
  for (auto one : self.sizes()) {
    worth &= one > 3;
  }
  return worth;
}
Tensor by_asked(const Tensor& self) {
  if (!at::_is_worth(self, 2)) {
    fast_step(self);
  } else {
    slow_step(self);
  }
  return self;
}
template <typename T, bool quick> static void run_either(const Tensor& self) {
  if constexpr (quick) {
    slow_step(self);
  } else {
    fast_step(self);
  }
}
Tensor by_template(const Tensor& self) { run_either<float, true>(self); return self; }
template <bool quick> struct Runner {
  static void go(const Tensor& self) { run_either<float, quick>(self); }
};
Tensor by_class(const Tensor& self) { Runner<true>::go(self); return self; }
std::array<Attempt, 2> attempts = {Attempt::First, Attempt::Second};
Tensor by_order(const Tensor& self) {
  switch (attempt) {
    case Attempt::First: {
      slow_step(self);
      break;
    }
    case Attempt::Second: {
      fast_step(self);
      break;
    }
  }
  return self;
}
Tensor block_gamma_cpu(const Tensor& self) { slow_step(self); return self; }
TORCH_LIBRARY_FRAGMENT(aten, m) { m.def("aten::block_gamma(Tensor self) -> Tensor"); }
TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl("aten::block_gamma", TORCH_FN(block_gamma_cpu)); }
namespace xnnpack { static void run_quick(const Tensor& self) { fast_step(self); } }
static void run_plain(const Tensor& self) { slow_step(self); }
Tensor by_vendor(const Tensor& self) { run_plain(self); xnnpack::run_quick(self); return self; }
static void run_elsewhere(const Tensor& self) {
  checkBackend("run_elsewhere", {self}, Backend::CUDA);
  fast_step(self);
}
static void run_checked(const Tensor& self) {
  checkBackend("run_checked", {self}, Backend::CPU);
  self.mul(self);
}
Tensor checked(const Tensor& self) { run_checked(self); run_elsewhere(self); return self; }
static std::tuple<Tensor, Scalar> tensor_and_number(const Tensor& self) { return {self, 1}; }
Tensor first_of(const Tensor& self, const Tensor& other) { fast_step(self); return self; }
Tensor first_of_cpu(const Tensor& self, const Scalar& other) { slow_step(self); return self; }
Tensor by_tuple(const Tensor& self) {
  auto [a, b] = tensor_and_number(self);
  return at::first_of(a, b);
}
Tensor by_training(const Tensor& self, bool train) {
  if (train) {
    fast_step(self);
  } else {
    slow_step(self);
  }
  return self;
}
Tensor sampled_2d_cpu(const Tensor& self) { fast_step(self); return self; }
Tensor sampled_3d_cpu(const Tensor& self) { slow_step(self); return self; }
Tensor sampled(const Tensor& self) {
  if (self.dim() == 4) {
    return at::sampled_2d(self);
  }
  return at::sampled_3d(self);
}
static Tensor product_deep(const Tensor& self) { return at::product_of(self, self); }
static Tensor product_deeper(const Tensor& self) { return product_deep(self); }
static Tensor product_far(const Tensor& self) { return product_deeper(self); }
static Tensor product_farther(const Tensor& self) { return product_far(self); }
Tensor sine_of_cell(const Tensor& self) { return at::sine_of(product_farther(self)); }
Tensor _each_sine_of(const Tensor& self) {
  if (way > 2) {
    if (much > 3) {
      slow_step(self);
    }
  }
  return at::sine_of(self);
}
bool told_cpu(const Tensor& self) { slow_step(self); return true; }
bool all_near(const Tensor& self) {
  auto product = product_farther(self);
  return at::told(self);
}
Tensor dense_form(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  if (self.is_contiguous()) {
    return self;
  }
  return at::copied_form(self, memory_format);
}
Tensor copied_form_cpu(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  slow_step(self);
  return self;
}
Tensor packed_form(const Tensor& self) { return at::dense_form(self); }
static bool is_laid(const Tensor& self, MemoryFormat format) { return self.is_contiguous(); }
Tensor laid_out_cpu(const Tensor& self) {
  if (is_laid(self, at::MemoryFormat::ChannelsLast)) {
    slow_step(self);
  } else {
    fast_step(self);
  }
  return self;
}
Tensor turned_transpose(const Tensor& self) {
  switch (select(self)) {
    case Backend::Mkldnn:
      fast_step(self);
      break;
    case Backend::MkldnnTranspose:
      sine_deep(self);
      break;
  }
  return self;
}
#if USES_TEXT() && HAS_WIDE()
static void by_width(const Tensor& self) { sine_deep(self); }
#else
static void by_width(const Tensor& self) { fast_step(self); }
#endif
Tensor by_flag(const Tensor& self) { by_width(self); return self; }
static float each_value(float scale, qint8 value) { return fbgemm::Dequantize(value, scale); }
Tensor by_element(const Tensor& self) {
  at::parallel_for(0, 1, 1, [&](int64_t a) { each_value(1.0, self.data_ptr<qint8>()[a]); });
  return self;
}
Tensor by_maker(const Tensor& self) {
  auto packed = std::make_unique<fbgemm::PackAMatrix<int8_t>>(self.data_ptr<int8_t>());
  return self;
}
static Tensor tensor_of(const Scalar& one);
Tensor first_of(const Tensor& self, const Scalar& other, int64_t n) {
  return at::first_of(self, tensor_of(other));
}
Tensor view_part(const Tensor& self) {
  if (self.is_quantized()) {
    slow_step(self);
  }
  return self;
}
std::vector<Tensor> parts_by_view(const Tensor& self) { return {at::native::view_part(self)}; }
Tensor repeat_cpu(const Tensor& self, IntArrayRef repeats) { fast_step(self); return self; }
Tensor lined_up(const Tensor& self) { return product_farther(self.repeat({2})); }
static void sine_loop(const Tensor& self) { slow_step(self); }
static void sine_deep(const Tensor& self) { sine_loop(self); }
Tensor sine_of_cpu(const Tensor& self) { sine_deep(self); return self; }
Tensor window_of(const Tensor& self) {
  auto all = at::sine_of(self * 2);
  return at::mul(all, 3);
}
}
"""
CUDA_KERNELS = """
namespace at::native {
__global__ void wise_kernel(float* x) {}
__global__ void usual_kernel(float* x) {}
static void usual_inner(const Tensor& self) {
  usual_kernel<<<1, 1>>>(x);
}
static void usual_outer(const Tensor& self) {
  if (mask[0]) { usual_inner(self); }
}
static void usual_first(const Tensor& self) { usual_outer(self); }
static void usual_case(const Tensor& self) { usual_first(self); }
Tensor by_runtime_cuda(const Tensor& self) {
  cudaLaunchCooperativeKernel((const void*)wise_kernel, dim3(1), dim3(1), arguments, 0, stream);
  return self;
}
Tensor by_file_cuda(const Tensor& self) { run_of_files(self); return self; }
void run_of_files(const Tensor& self);
Tensor by_back_end_cuda(const Tensor& self) {
  switch (select(self)) {
    case Backend::Depthwise:
      wise_kernel<<<1, 1>>>(x);
      break;
    case Backend::Cudnn:
      usual_case(self);
      break;
  }
  return self;
}
}
"""


EXTENSION = """
namespace at::native {
__global__ void EXTENDED_kernel(float* x) {}
void run_of_files(const Tensor& self) { EXTENDED_kernel<<<1, 1>>>(x); }
}
"""
MPS_KERNELS = """
namespace at::native {
static auto& lib = MetalShaderLibrary::getBundledLibrary();
Tensor shared_gamma_mps(const Tensor& self) {
  lib.exec_unary_kernel(self, "shared_gamma");
  return self;
}
Tensor smooth_gamma_mps(const Tensor& self) {
  lib.getPipelineStateForFunc("count_rows");
  lib.getPipelineStateForFunc("forward_gamma_of_smooth");
  return self;
}
}
"""
SHADERS = """
#include <c10/metal/given.h>
struct shared_gamma_functor { float operator()(float x) { return x; } };
#define SHARED(NAME) \\
  template [[host_name(#NAME "_float")]] \\
  kernel void ::c10::metal::each_shared_dense<float, NAME##_functor>(device float* out)
SHARED(shared_gamma);
kernel void count_rows(device float* out [[buffer(0)]]) {}
kernel void forward_gamma_of_smooth(device float* out [[buffer(0)]]) {}
"""

SHARED_SHADERS = """
namespace c10::metal {
template <typename T, typename F> kernel void each_shared_dense(device T* out [[buffer(0)]]) {}
}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = Path(shutil.copytree(TREE, tmp_path_factory.mktemp("given") / "pytorch"))
    native = root / "aten/src/ATen/native"
    with (native / "native_functions.yaml").open("a") as file:
        file.write(YAML)
    (native / "Given.cpp").write_text(KERNELS)
    (native / "cuda/Given.cu").write_text(CUDA_KERNELS)
    for path in ("cuda/usual_extension.cu", "cuda/rocshmem_extension.cu"):
        (native / path).write_text(EXTENSION.replace("EXTENDED", Path(path).stem))
    (native / "mps/operations/Given.mm").write_text(MPS_KERNELS)
    (native / "mps/kernels").mkdir()
    (native / "mps/kernels/Given.metal").write_text(SHADERS)
    (root / "c10/metal").mkdir()
    (root / "c10/metal/given.h").write_text(SHARED_SHADERS)
    cache = tmp_path_factory.mktemp("cache")
    with contextlib.closing(Index.open(Source.find(str(root)), cache)) as opened:
        yield opened


def usual(index: Index, operator: str, device: str = "CPU") -> Route:
    return next(one for one in index.routes(operator) if one.device == device)


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
        ("by_asked", "fast_step"),  # of an operator, whatever more it asks
        ("by_training", "fast_step"),  # as modules are until somebody evaluates
        ("sampled", "fast_step"),  # images have two dimensions
        ("by_tuple", "slow_loop"),  # of which the second is a number
        ("turned_transpose", "slow_loop"),  # by the case with a word of its name
        ("by_flag", "slow_loop"),  # as the tree defines the macro
        ("by_element", "by_element"),  # which a library converts one by one
        ("first_of.Number", "fast_step"),  # and not what ``c10`` has
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
    tmp_path: Path,
) -> None:
    """As a normalization, whose loops over elements end what it does."""
    root = Path(shutil.copytree(TREE, tmp_path / "pytorch"))
    native = root / "aten/src/ATen/native"
    yaml = (native / "native_functions.yaml").read_text() + UNTAGGED_YAML
    lines = (line for line in yaml.splitlines() if not line.startswith("  tags:"))
    (native / "native_functions.yaml").write_text("\n".join(lines))
    (native / "Untagged.cpp").write_text(UNTAGGED)
    with contextlib.closing(Index.open(Source.find(str(root)), tmp_path / "cache")) as index:
        assert "norm_of" in [one.symbol for one in usual(index, "layer_of").via]


def test_what_a_file_has_for_a_vendor_is_rare(index: Index) -> None:
    assert usual(index, "by_file", "CUDA").symbol.endswith("usual_extension_kernel")
