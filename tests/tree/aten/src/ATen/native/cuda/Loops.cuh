#pragma once

#include <ATen/native/cuda/CUDALoops.cuh>

namespace at::native {

template <typename func_t>
void gpu_kernel(TensorIteratorBase& iter, const func_t& f) {
  if (iter.numel() == 0) {
    return;
  }
  if (!iter.can_use_32bit_indexing()) {
    for (auto& sub_iter : iter.with_32bit_indexing()) {
      gpu_kernel(sub_iter, f);
    }
    return;
  }
  gpu_kernel_impl(iter, f);
}

template <typename arg1_t, typename arg2_t, typename return_t, typename func_t>
struct BUnaryFunctor {
  using opmath_arg2_t = at::opmath_type<arg2_t>;
  __device__ return_t operator()(arg1_t a) const {
    return f(a, b);
  }
  func_t f;
  opmath_arg2_t b;
};

template <typename arg1_t, typename arg2_t = arg1_t, typename return_t = arg1_t, typename func_t>
void opmath_gpu_kernel_with_scalars(TensorIteratorBase& iter, const func_t& f) {
  gpu_kernel(iter, f);
}

template <typename scalar_t, typename return_t = scalar_t, typename func_t>
void opmath_symmetric_gpu_kernel_with_scalars(TensorIteratorBase& iter, const func_t& f) {
  gpu_kernel(iter, f);
}

template <typename func_t>
void gpu_kernel_with_scalars(TensorIteratorBase& iter, const func_t& f) {
  opmath_gpu_kernel_with_scalars<float>(iter, f);
}

} // namespace at::native
