#pragma once

#include <ATen/native/cpu/Loops.h>

namespace at::native::templates::cpu {
namespace {

template <typename RNG>
void exponential_kernel(TensorIteratorBase& iter, double lambda, RNG generator) { //! hop exponential_ function
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "exponential_cpu", [&] {
    cpu_serial_kernel(iter, [&]() -> scalar_t { return 0; });
  });
}

template <typename RNG>
void bernoulli_kernel(const TensorBase &self, double p, RNG generator) { //! hop bernoulli_.float function
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "bernoulli_scalar_cpu_", [&] {
    cpu_serial_kernel(iter, [&]() -> scalar_t { return 1; });
  });
}

}} // namespace at::native::templates::cpu
