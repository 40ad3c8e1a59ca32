"""Operators that are added to the small tree, and their kernels: one for each rule of routes."""

from __future__ import annotations

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
YAML = """
- func: factor(Tensor self) -> Tensor
  dispatch:
    CPU: factor_cpu

- func: lower_(Tensor(a!) self) -> Tensor(a!)
  variants: method
  dispatch:
    CPU: lower_cpu_

- func: scaled(Tensor self) -> Tensor

- func: halved(Tensor self) -> Tensor
  dispatch:
    CPU: halved_cpu

- func: taken(Tensor self, Tensor index) -> Tensor
  dispatch:
    CPU: taken_cpu

- func: middle(Tensor self) -> Tensor

- func: spread_add(Tensor self) -> Tensor
  dispatch:
    MPS: spread_add_mps

- func: blocks(Tensor self) -> Tensor
  dispatch:
    CPU: blocks_cpu

- func: own_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor

- func: tells(Tensor self, int? dim=None, bool keepdim=False) -> Tensor
  dispatch:
    CPU: tells_cpu

- func: ranked(Tensor self, int? dim=None, bool keepdim=False) -> Tensor

- func: only_cpu(Tensor self) -> Tensor
  dispatch:
    CPU: lower_cpu

- func: through_cpu(Tensor self) -> Tensor

- func: powered(Tensor self, int n, *, str way="plain") -> Tensor

- func: shaped(Tensor self, int? dim=None) -> Tensor

- func: made(int n, *, OPTIONS) -> Tensor

- func: unread(int n, *, OPTIONS) -> Tensor

- func: counted_all(Tensor self) -> Tensor
  dispatch:
    CPU: counted_all_cpu

- func: in_two_steps(Tensor self) -> Tensor
  dispatch:
    CPU: in_two_steps_cpu

- func: called_first(Tensor self) -> Tensor
  dispatch:
    CPU: called_first_cpu

- func: of_many(Tensor self, int way=0, bool given=False) -> Tensor
  dispatch:
    CPU: of_many_cpu

- func: either_way(Tensor self) -> Tensor
  dispatch:
    CPU: either_way_cpu

- func: filled_first(Tensor self) -> Tensor

- func: bare_stub(Tensor self) -> Tensor
  dispatch:
    CPU, MPS: bare_stub
- func: only_stub(Tensor self) -> Tensor

- func: by_stub_of_object(Tensor self, float p) -> Tensor
  dispatch:
    CPU: by_stub_of_object_cpu

- func: like_another(Tensor self) -> Tensor

- func: totals(Tensor self, Tensor by, int? dim=None, bool keepdim=False) -> Tensor
  dispatch:
    CPU: totals_cpu

- func: largest_first(Tensor self) -> Tensor

- func: by_object(Tensor self) -> Tensor
  dispatch:
    CPU: by_object_cpu

- func: both_ways(Tensor self) -> Tensor
  dispatch:
    CPU: both_ways_cpu

- func: few_elements(Tensor self) -> Tensor
  dispatch:
    CPU: few_elements_cpu

- func: flag_kept(Tensor self) -> Tensor
  dispatch:
    CPU: flag_kept_cpu

- func: over_another(Tensor self) -> Tensor

- func: last_size(Tensor self) -> Tensor
  dispatch:
    CPU: last_size_cpu

- func: tight_sum(Tensor self) -> Tensor

- func: of_types(Tensor self) -> Tensor
  dispatch:
    CPU: of_types_cpu

- func: warned(Tensor self) -> Tensor
  dispatch:
    CPU: warned_cpu

- func: always_warned(Tensor self) -> Tensor
  dispatch:
    CPU: always_warned_cpu

- func: by_labels(Tensor self, int mode) -> Tensor
  dispatch:
    CPU: by_labels_cpu

- func: fill.Tensor(Tensor self, Tensor value) -> Tensor

- func: quantized_weigh(Tensor self) -> Tensor
  dispatch:
    CPU: quantized_weigh_cpu

- func: quantized_weigh_dynamic(Tensor self) -> Tensor
  dispatch:
    CPU: quantized_weigh_cpu

- func: linalg_halves(Tensor A) -> Tensor
  python_module: linalg
  dispatch:
    CPU: linalg_halves_cpu

- func: by_batches(Tensor self) -> Tensor
  dispatch:
    CPU: by_batches_cpu

- func: normed(Tensor self) -> Tensor
  dispatch:
    CPU: normed_cpu

- func: needs_all(Tensor self) -> Tensor

- func: by_macro(Tensor self) -> Tensor
  dispatch:
    CUDA: by_macro_cuda

- func: turned.Tensor(Tensor self) -> Tensor
  dispatch:
    MPS: turned_mps

- func: spaced(Scalar start, *, OPTIONS) -> Tensor

- func: spaced.Tensor(Tensor start, *, OPTIONS) -> Tensor

- func: from_parts(Tensor parts, Tensor values, *, OPTIONS) -> Tensor

- func: ramp(Scalar start, int steps, *, OPTIONS) -> Tensor
  dispatch:
    CompositeExplicitAutograd: ramp

- func: ramp.out(Scalar start, int steps, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: ramp_cpu_out

- func: of_either_build(Tensor self) -> Tensor
  dispatch:
    CUDA: of_either_build_cuda

- func: of_rocm(Tensor self) -> Tensor
  dispatch:
    CUDA: of_rocm_cuda

- func: sloped(Tensor self) -> Tensor
  dispatch:
    CPU: sloped_cpu

- func: by_width(Tensor self) -> Tensor
  dispatch:
    CPU: by_width_cpu
"""
KERNELS = """
#include <ATen/native/DispatchStub.h>
#define TORCH_WARN_ONCE(...) warn(__VA_ARGS__)
namespace at::native {
using factor_fn = void (*)(Tensor&);
DECLARE_DISPATCH(factor_fn, factor_stub);
DEFINE_DISPATCH(factor_stub);
static void lower_loop(Tensor& self) { at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {}); }
Tensor& lower_cpu_(Tensor& self) { lower_loop(self); return self; }
Tensor factor_cpu(const Tensor& self) {
  Tensor result = self.lower_();
  TORCH_CHECK(
      self.lower_().defined(),
      "factor: a message that is long enough");
  if (unknown > 3) {
    factor_stub(self.device().type(), result);
  }
  return result;
}
Tensor scaled(const Tensor& self) {
  auto total = at::sum(self);
  return unknown > 3 && other > 4 ? at::factor(self).div(total) : total;
}
using cut_fn = void (*)(Tensor&);
DEFINE_DISPATCH(cut_stub);
static void cut_deep(Tensor& self) { at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {}); }
static void cut_kernel(Tensor& self) { cut_deep(self); }
REGISTER_DISPATCH(cut_stub, &cut_kernel);
Tensor halved_cpu(const Tensor& self) {
  Tensor result = self.lower_();
  cut_stub(self.device().type(), result);
  return result;
}
Tensor taken_cpu(const Tensor& self, const Tensor& index) { lower_loop(self); return self; }
Tensor middle(const Tensor& self) { return at::factor(at::taken(self, self)); }
static int64_t blocks_in(int64_t size) { return size; }
Tensor blocks_cpu(const Tensor& self) {
  memcpy(self.data_ptr(), self.data_ptr(), blocks_in(1));
  return self;
}
Tensor own_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  auto loss = at::mul(self, target);
  return reduction == at::Reduction::Mean ? at::sum(loss) : loss;
}
Tensor tells_cpu(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  lower_loop(self);
  return self;
}
Tensor ranked(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  auto all_in_range = at::tells(self);
  return at::factor(self);
}
Tensor lower_cpu(const Tensor& self) { lower_loop(self); return self; }
Tensor through_cpu(const Tensor& self) { return at::mul(at::only_cpu(self), self); }
static void when_plain(const Tensor& self) { lower_loop(self); }
static void when_one(const Tensor& self) {
  at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {});
}
static void when_other(const Tensor& self) { when_plain(self); }
Tensor powered(const Tensor& self, int64_t n, std::string_view way) {
  if (n == 1) {
    when_one(self);
  } else if (way == "other") {
    when_other(self);
  } else {
    when_plain(self);
  }
  return self;
}
Tensor made(int64_t n, const TensorOptions& options) { return at::factor(at::empty({n}, options)); }
Tensor shaped(const Tensor& self, std::optional<int64_t> dim) {
  if (dim.has_value()) {
    when_one(self);
    return self;
  }
  return at::factor(self);
}
template <typename scalar_t>
static void set_total(Tensor& self, scalar_t total) { put(self, total); }
Tensor counted_all_cpu(const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "counted_all", [&] {
    set_total<scalar_t>(self, total);
  });
  return self;
}
static void factor_loop(Tensor& self) { at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {}); }
static void factor_kernel(Tensor& self) { if (way > 2) { factor_loop(self); } }
REGISTER_DISPATCH(factor_stub, &factor_kernel);
static void first_step(const Tensor& self) { lower_loop(self); }
static void last_step(const Tensor& self) {
  at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {});
}
Tensor in_two_steps_cpu(const Tensor& self) { first_step(self); last_step(self); return self; }
Tensor called_first_cpu(const Tensor& self) {
  first_step(self);
  at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {});
  return self;
}
Tensor of_many_cpu(const Tensor& self, int64_t kind, bool is_asked) {
  if (!is_asked || unknown == 3) {
    when_other(self);
    return self;
  }
  when_one(self);
  return self;
}
Tensor filled_first(const Tensor& self) {
  auto result = at::empty_like(self);
  result.fill_(0);
  result.copy_(self);
  return result;
}
DEFINE_DISPATCH(unregistered_stub);
REGISTER_NO_CPU_DISPATCH(unregistered_stub)
Tensor bare_stub(const Tensor& self) {
  unregistered_stub(self.device().type(), self);
  return self;
}
Tensor only_stub(const Tensor& self) {
  factor_stub(self.device().type(), self);
  return self;
}
struct ByStub {
  void operator()(Tensor& self, const Tensor& p) { cut_stub(self.device().type(), self); }
  void operator()(Tensor& self, double p) { factor_stub(self.device().type(), self); }
};
template <typename Given>
static void pass_on(Tensor& self, double p) { Given()(self, p); }
Tensor by_stub_of_object_cpu(const Tensor& self, double p) {
  pass_on<ByStub>(self, p);
  return self;
}
Tensor like_another(const Tensor& self) {
  if (self.dtype() == other.dtype()) {
    when_plain(self);
    return self;
  }
  when_one(self);
  return self;
}
Tensor totals_cpu(
    const Tensor& self, const Tensor& by, std::optional<int64_t> dim, bool keepdim) {
  when_plain(self);
  return self;
}
Tensor largest_first(const Tensor& self) {
  auto largest = at::tells(self);
  return at::totals(self, largest);
}
struct Painter { virtual Tensor paint(const Tensor& self) = 0; };
using PainterPtr = c10::intrusive_ptr<Painter>;
struct LoopPainter : public Painter { Tensor paint(const Tensor& self) override; };
Tensor LoopPainter::paint(const Tensor& self) { when_one(self); return self; }
PainterPtr make_painter() { return c10::make_intrusive<LoopPainter>(); }
Tensor by_object_cpu(const Tensor& self) {
  auto painter = make_painter();
  return painter->paint(self);
}
Tensor both_ways_cpu(const Tensor& self) {
  if (unknown > 3) {
    sgemm_(a, b);
  } else {
    dgemm_(a, b);
  }
  return self;
}
Tensor few_elements_cpu(const Tensor& self) {
  if (rows * columns < 400) {
    when_one(self);
  } else {
    when_other(self);
  }
  return self;
}
Tensor flag_kept_cpu(const Tensor& self) {
  if (FlagKept) {
    when_other(self);
  } else {
    when_one(self);
  }
  return self;
}
Tensor over_another(const Tensor& self) { return at::flag_kept(self); }
static void by_search(const Tensor& self) { when_one(self); }
static void by_rule(const Tensor& self) { when_one(self); }
Tensor either_way_cpu(const Tensor& self) {
  if (!searches) {
    by_rule(self);
  } else if (how_far > 3) {
    by_search(self);
  } else {
    by_search(self);
  }
  return self;
}
Tensor last_size_cpu(const Tensor& self) {
  if (inner == 1) {
    if (unknown > 2) {
      at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {});
    } else {
      cpublas::gemm(a, b);
    }
  } else {
    sgemm_(a, b);
  }
  return self;
}
Tensor tight_sum(const Tensor& self) { return at::factor(self).sum(); }
template <typename T>
struct Typed {
  Tensor operator()(const Tensor& self) { when_plain(self); return self; }
};
template <>
struct Typed<bool> {
  Tensor operator()(const Tensor& self) {
    at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {});
    return self;
  }
};
Tensor of_types_cpu(const Tensor& self) { return Typed<scalar_t>()(self); }
Tensor warned_cpu(const Tensor& self) {
  if (unknown == 3) {
    when_other(self);
  } else if (is_bad(self)) {
    TORCH_WARN_ONCE("warned: what follows is slow");
    when_one(self);
  }
  return self;
}
Tensor always_warned_cpu(const Tensor& self) {
  if (unknown > 4) {
    TORCH_WARN_ONCE("always_warned: do not call this");
    when_other(self);
  } else {
    TORCH_WARN_ONCE("always_warned: do not call that");
    when_other(self);
  }
  return self;
}
Tensor by_labels_cpu(const Tensor& self, int64_t mode) {
  switch (static_cast<Mode>(mode)) {
    case Mode::LAST:
      when_one(self);
      break;
    case Mode::SUM:
    case Mode::MEAN:
      when_other(self);
      break;
    case Mode::SlowSum:
    case Mode::SlowMean:
    case Mode::SlowLast:
      when_plain(self);
  }
  return self;
}
Tensor fill(const Tensor& self, const Tensor& value) {
  auto result = at::empty_like(self);
  if (self.device() != value.device()) {
    when_one(result);
    return result;
  }
  result.copy_(value);
  return result;
}
struct Weighing { virtual void weigh(const Tensor& self) = 0; };
struct PlainWeighing : public Weighing { void weigh(const Tensor& self) override; };
struct QuantizedWeighing : public Weighing { void weigh(const Tensor& self) override; };
struct QuantizedDynamicWeighing : public Weighing { void weigh(const Tensor& self) override; };
void QuantizedDynamicWeighing::weigh(const Tensor& self) { unknown(self); }
void PlainWeighing::weigh(const Tensor& self) { when_plain(self); }
void QuantizedWeighing::weigh(const Tensor& self) { when_one(self); }
Tensor quantized_weigh_cpu(const Tensor& self) {
  const Weighing& weighing = weighing_of(self);
  weighing.weigh(self);
  return self;
}
Tensor linalg_halves_cpu(const Tensor& A) {
  const auto batch_size = batchCount(A);
  if (rows != columns || batch_size == 1) {
    when_other(A);
  } else {
    when_one(A);
  }
  return A;
}
static void one_matrix(float* a) { sgetrf_(a); }
Tensor by_batches_cpu(const Tensor& self) {
  const auto loop = [&](int64_t a, int64_t b) { one_matrix(self.data_ptr<float>()); };
  at::parallel_for(0, 1, 1, loop);
  return self;
}
static void update_stats(const Tensor& self) { when_plain(self); }
Tensor normed_cpu(const Tensor& self) { update_stats(self); when_other(self); return self; }
Tensor needs_all(const Tensor& self) { return at::addmm(self, at::only_cpu(self), self); }
Tensor spaced(const Scalar& start, const TensorOptions& options) {
  return at::sum(at::empty({1}, options));
}
Tensor spaced(const Tensor& start, const TensorOptions& options) {
  return at::spaced(start.item(), options);
}
Tensor from_parts(const Tensor& parts, const Tensor& values, const TensorOptions& options) {
  return at::sum(parts);
}
Tensor ramp(const Scalar& start, int64_t steps, const TensorOptions& options) {
  Tensor result = at::empty({steps}, options);
  return at::ramp_out(result, start, steps);
}
Tensor& ramp_cpu_out(const Scalar& start, int64_t steps, Tensor& out) {
  at::parallel_for(0, steps, 1, [&](int64_t i, int64_t n) { write(out, i, n); });
  return out;
}
template <typename scalar_t> static void wide_part(const Tensor& self) { use(self); }
template <typename scalar_t> static void narrow_part(const Tensor& self) { use(self); }
static std::vector<int64_t> sloped_dims(const Tensor& self) { return answered(self); }
Tensor sloped_cpu(const Tensor& self) {
  auto dims = sloped_dims(self);
  if (self.is_complex()) { return at::factor(self); }
  return self;
}
Tensor by_width_cpu(const Tensor& self) {
  if (self.scalar_type() == at::kHalf) {
    AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "wide", [&] { wide_part<scalar_t>(self); });
  } else {
    AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "narrow", [&] { narrow_part<scalar_t>(self); });
  }
  return self;
}
}
"""

SHADERS = {
    "library_impl.h": """
namespace {
template <int bits>
Tensor packed_cpu(const Tensor& self) {
  at::parallel_for(0, bits, 1, [&](int64_t a, int64_t b) {});
  return self;
}
}
""",
    "library.cpp": """
#include <ATen/native/library_impl.h>
#define PACKED(BITS) \\
  m.impl("packed_" #BITS, torch::dispatch(c10::DispatchKey::CPU, &packed_cpu<BITS>));
namespace {
Tensor deep_cpu(const Tensor& self) {
  auto copy = self.to(at::kFloat);
  if (one(copy)) { if (two(copy)) { if (three(copy)) { if (four(copy)) {
    at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {});
  } } } }
  return copy;
}
Tensor lacks_cuda(const Tensor& self) {
  if (one(self)) { at::only_cpu(self); }
  return self;
}
}
TORCH_LIBRARY(routed, m) {
  m.def("packed_4(Tensor self) -> Tensor");
  m.def("deep(Tensor self) -> Tensor");
  m.def("lacks(Tensor self) -> Tensor");
  PACKED(4)
}
TORCH_LIBRARY_IMPL(routed, CPU, m) { m.impl("deep", deep_cpu); }
TORCH_LIBRARY_IMPL(routed, CUDA, m) { m.impl("lacks", lacks_cuda); }
""",
    "cuda/Macro.cu": """
namespace at::native {
__global__ void few_rows(float* x, int n) {}
__global__ void many_rows(float* x, int n) {}
#define FEW(N) few_rows<<<1, 32>>>(x, N)
#define MANY(N) many_rows<<<1, 32>>>(x, N)
Tensor by_macro_cuda(const Tensor& self) {
  auto x = self.data_ptr<float>();
  if (rows <= 16) {
    FEW(1);
  } else {
    switch (columns) {
      case 1:
        MANY(1);
        break;
      case 2:
        MANY(2);
        break;
    }
  }
  return self;
}
}
""",
    "mps/Spread.metal": """
template <typename T>
kernel void spread_set(device T* out [[buffer(0)]]) { out[0] = 1; }
template <typename T>
kernel void spread_add(device T* out [[buffer(0)]]) { out[0] += 1; }
kernel void turn_left_scalar(device float* out [[buffer(0)]]) {}
kernel void turn_left_tensor(device float* out [[buffer(0)]]) {}
template [[host_name("spread_set_float")]] kernel void spread_set<float>(device float* out);
template [[host_name("spread_add_float")]] kernel void spread_add<float>(device float* out);
""",
    "hip/Builds.hip": """
namespace at::native {
__global__ void rocm_kernel(float* out) {}
void attend_alike(const Tensor& self) { rocm_kernel<<<1, 1>>>(self.data_ptr<float>()); }
void attend(const Tensor& self) { rocm_kernel<<<1, 1>>>(self.data_ptr<float>()); }
}
""",
    "cuda/Builds.cu": """
namespace at::native {
__global__ void cuda_kernel(float* out) {}
static void started(const Tensor& self) { cuda_kernel<<<1, 1>>>(self.data_ptr<float>()); }
Tensor of_either_build_cuda(const Tensor& self) {
  if (on_rocm()) { attend(self); } else { started(self); }
  return self;
}
Tensor of_rocm_cuda(const Tensor& self) { attend_alike(self); return self; }
}
""",
    "mps/Spread.mm": """
#include <ATen/native/mps/Spread_metallib.h>
namespace at::native {
static void spread(const Tensor& self, const std::string& mode) {
  auto name = std::string("spread_") + mode + "_" + scalarToMetalTypeString(self);
  auto state = lib.getPipelineStateForFunc(name);
}
static void turn(const Tensor& self, const std::string& way) {
  lib.getPipelineStateForFunc(fmt::format("turn_{}_scalar", way));
  lib.getPipelineStateForFunc(fmt::format("turn_{}_tensor", way));
}
Tensor turned_mps(const Tensor& self) {
  turn(self, "left");
  return self;
}
Tensor spread_add_mps(const Tensor& self) {
  spread(self, "add");
  return self;
}
}
""",
}
"""Kernels that macros launch, and Metal kernels that one string asks for."""
