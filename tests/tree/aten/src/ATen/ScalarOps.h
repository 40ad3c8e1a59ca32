#pragma once

#include <ATen/Tensor.h>
#include <c10/core/Scalar.h>

// In c10, so that argument-dependent look-up finds it; callers write at::scalar_to_tensor.
namespace c10 {

inline at::Tensor scalar_to_tensor(const Scalar& s, const Device device = at::kCPU) {
  return at::scalar_tensor(s, at::device(device));
}

} // namespace c10

// A decoy: no directive opens this namespace in at.
namespace at::detail {

inline Tensor scalar_to_tensor(const Scalar& s) {
  return scalar_tensor_static(s);
}

} // namespace at::detail
