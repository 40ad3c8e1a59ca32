#pragma once

#include <ATen/core/Tensor.h>

namespace at::native::templates {

#define CHECK_NORMAL_STD(std) TORCH_CHECK(std >= 0.0, "normal expects std >= 0.0, but found std ", std);

template <template <typename> class exponential_kernel, typename RNG>
Tensor& exponential_impl_(Tensor& self, double lambda, std::optional<Generator> gen) {
  TORCH_CHECK(lambda > 0.0, "exponential_ expects lambda > 0.0, but found lambda=", lambda);
  auto iter = TensorIterator::borrowing_nullary_op(self);
  exponential_kernel<RNG>()(iter, lambda, gen);
  return self;
}

template <template <typename> class bernoulli_scalar_kernel, typename RNG>
Tensor& bernoulli_impl_(Tensor& self, double p, std::optional<Generator> gen) {
  TORCH_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  bernoulli_scalar_kernel<RNG>()(self, p, gen);
  return self;
}

} // namespace at::native::templates
