#pragma once

namespace at::native::binary_internal {

template <typename scalar_t>
struct DivFunctor {
  __device__ scalar_t operator()(scalar_t a, scalar_t b) const {
    return a / b;
  }
};

template <typename T>
struct MulFunctor {
  __device__ T operator()(T a, T b) const {
    return a * b;
  }
};

void div_true_kernel_cuda(TensorIteratorBase& iter);
void div_floor_kernel_cuda(TensorIteratorBase& iter);

} // namespace at::native::binary_internal
