#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>

namespace at::native {

namespace {

template <bool inplace>
using Ctype = std::conditional_t<inplace, Tensor&, Tensor>;

template <bool feature_dropout, bool alpha_dropout, bool inplace, typename T>
Ctype<inplace> _dropout_impl(T& input, double p, bool train) { //! hop dropout function
  return inplace ? input.mul_(p) : input * p;
}

// Aliases and functions by one macro, in an anonymous namespace.
#define ALIAS_SPECIALIZATION(ALIAS_NAME, IS_FEATURE, IS_ALPHA)                  \
template <bool inplace, typename... Args>                                       \
Ctype<inplace> ALIAS_NAME(Args&&... args) {                                     \
  return _dropout_impl<IS_FEATURE, IS_ALPHA, inplace>(std::forward<Args>(args)...); \
}

ALIAS_SPECIALIZATION(_dropout, false, false)

} // anonymous namespace

std::tuple<Tensor,Tensor> //
native_dropout_cpu(const Tensor& input, double p, std::optional<bool> train) { //! kernel native_dropout CPU
  Tensor mask = at::empty(input.sizes(), input.options().dtype(c10::kBool));
  mask.bernoulli_(1 - p);
  return std::make_tuple(input.mul(mask), mask);
}

Tensor dropout(const Tensor& input, double p, bool train) { //! kernel dropout CompositeImplicitAutograd
  auto result = [&]() {
    NoNamesGuard guard;
    if (input.is_nested() || (train && is_fused_kernel_acceptable(input, p))) {
      return std::get<0>(at::native_dropout(input, p, train));
    }
    return _dropout<false>(input, p, train);
  }();
  return result;
}

} // namespace at::native
