
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
static void wide_step(const Tensor& self) { at::parallel_for(0, 1, 1, [&](int64_t a) {}); }
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
static bool is_row(const Tensor& self, const Tensor& x) {
  const auto x_sizes = x.sizes();
  return (self.dim() == 1 || self.squeeze().dim() == 1) && self.sizes()[0] == x_sizes[1] && x_sizes[1] > 1;
}
static Tensor add_rows(const Tensor& self, const Tensor& x, bool is_never = false) {
  if (!is_never && is_row(self, x)) {
    fast_step(self);
  } else {
    slow_step(self);
  }
  return self;
}
Tensor added_rows_cpu(const Tensor& self, const Tensor& x) { return add_rows(self, x); }
Tensor by_bias(const Tensor& self, const Tensor& weight, const std::optional<Tensor>& bias_opt) {
  auto bias = bias_opt.has_value()
    ? c10::MaybeOwned<Tensor>::borrowed(*bias_opt)
    : c10::MaybeOwned<Tensor>::owned(std::in_place);
  return at::added_rows(*bias, self);
}
static Tensor run_or_not(const Tensor& self, bool fast = true) {
  if (fast) {
    fast_step(self);
  } else {
    slow_step(self);
  }
  return self;
}
Tensor by_omitted(const Tensor& self) { return run_or_not(self); }
Tensor by_set_flag(const Tensor& self) {
  bool fast = false;
  if (!self.is_complex()) {
    fast = true;
  }
  return fast ? run(self, true) : run(self, false);
}
Tensor by_many(const Tensor& self, const Tensor& x) {
  if (self.is_contiguous() && x.is_contiguous() && fits(self, x)) {
    fast_step(self);
  } else {
    slow_step(self);
  }
  return self;
}
Tensor by_most(const Tensor& self, const Tensor& x) {
  const bool is_row = self.dim() == 1 && x.is_contiguous() && self.is_contiguous();
  if (is_row) {
    fast_step(self);
  } else {
    slow_step(self);
  }
  return self;
}
Tensor by_dim(const Tensor& self, int64_t dim) {
  if (dim == 0) {
    fast_step(self);
  } else {
    slow_step(self);
  }
  return self;
}
Tensor by_few(const Tensor& self, const Tensor& x) {
  if (self.is_contiguous() && at::globalContext().allows(x) && x.numel() <= 16) {
    fast_step(self);
  } else if (fits(self, x)) {
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
static Tensor unroll(const Tensor& self, int64_t width, bool wide) {
  if (wide) {
    switch (width) {
      case 4:
        fast_step(self);
        break;
      case 2:
        fast_step(self);
        break;
    }
  } else {
    switch (width) {
      case 1:
        slow_step(self);
        break;
    }
  }
  return self;
}
Tensor by_unrolled(const Tensor& self) { return unroll(self, width_of(self), is_wide(self)); }
Tensor by_limit(const Tensor& self) {
  if (rows_of(self) <= 2048) {
    fast_step(self);
  } else {
    slow_step(self);
  }
  return self;
}
Tensor by_equal_value(const Tensor& self) {
  if (inner_of(self) == 1) {
    if (is_wide(self)) {
      wide_step(self);
    } else {
      fast_step(self);
    }
  } else {
    slow_loop(self);
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
enum class Plan { Vendor, Turned, TurnedWide, Plain };
struct PlanParams {
  bool turned;
  auto by_vendor(const Tensor& self) const -> bool {
    return self.is_contiguous() && !turned;
  }
};
static Plan plan_of(const Tensor& self, const PlanParams& params) {
  if (params.by_vendor(self)) {
    return Plan::Vendor;
  } else if (params.turned) {
    if (is_wide(self)) return Plan::TurnedWide;
    return Plan::Turned;
  }
  return Plan::Plain;
}
Tensor by_possible(const Tensor& self, bool turned) {
  PlanParams params;
  params.turned = turned;
  Plan plan = plan_of(self, params);
  switch (plan) {
    case Plan::Vendor:
      fast_step(self);
      break;
    case Plan::Turned:
    case Plan::TurnedWide:
      slow_loop(self);
      break;
    case Plan::Plain:
      fast_step(self);
  }
  return self;
}
static Tensor with_nothing(Tensor& out, const Tensor& self) {
  const bool has_result = out.defined();
  if (has_result) {
    slow_step(self);
  } else {
    fast_step(self);
  }
  return self;
}
Tensor by_nothing(const Tensor& self) {
  Tensor result, unused;
  result = with_nothing(unused, self);
  return result;
}
static void with_test(const Tensor& self, bool one_sided) {
  if (!one_sided) {
    slow_step(self);
  } else {
    fast_step(self);
  }
}
Tensor by_test(const Tensor& self, std::optional<int64_t> n) {
  const bool is_twofold = self.is_complex();
  const bool one_sided = n.has_value() ? *n > 1 : !is_twofold;
  with_test(self, one_sided);
  return self;
}
TORCH_IMPL_FUNC(by_place_out)(const Tensor& self, const Tensor& result) {
  if (result.is_same(self)) {
    fast_step(self);
  } else {
    slow_loop(self);
  }
}
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
Tensor neg_cpu(const Tensor& self) { return self; }
Tensor turned_sign(const Tensor& self) { return -self; }
}
