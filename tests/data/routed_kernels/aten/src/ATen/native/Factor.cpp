
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
