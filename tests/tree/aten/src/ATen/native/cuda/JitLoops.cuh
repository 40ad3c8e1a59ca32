#pragma once

#include <ATen/native/cuda/Loops.cuh>
#include <ATen/native/cuda/CUDAJitLoops.cuh>

namespace at::native {

// The kernel is compiled from a string at run time.
template <char const *name, typename return_type, typename f_inputs_type, int arity, typename... Args>
void jitted_gpu_kernel(TensorIteratorBase& iter, const std::string& f) {
  at::cuda::jit::launch_jitted_pwise_function(f, name);
}

template <char const *name, typename return_type, typename f_inputs_type>
void opmath_jitted_gpu_kernel_with_scalars(TensorIteratorBase& iter, const std::string& f) {
  jitted_gpu_kernel<name, return_type, f_inputs_type, 2>(iter, f);
}

} // namespace at::native
