#pragma once

#include <ATen/native/cuda/Loops.cuh>

namespace at::native {
namespace {

template <typename accscalar_t, typename dist_t, typename transform_t>
C10_LAUNCH_BOUNDS_2(256, 4)
__global__ void distribution_elementwise_grid_stride_kernel(int64_t numel, PhiloxCudaState philox_args, const dist_t dist_func, const transform_t transform_func) { //! hop exponential_ launch
  int64_t idx = blockIdx.x * blockDim.x + threadIdx.x;
}

template <typename RNG, typename dist_t, typename transform_t>
void distribution_nullary_kernel(at::TensorIteratorBase& iter, RNG gen, const dist_t& dist_func, const transform_t transform_func) {
  distribution_elementwise_grid_stride_kernel<float><<<1, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      iter.numel(), gen, dist_func, transform_func);
}

} // anonymous namespace

namespace templates::cuda {

template <typename RNG>
void exponential_kernel(TensorIteratorBase& iter, double lambda_, RNG gen) { //! hop exponential_ function
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, iter.dtype(), "exponential_cuda", [&] {
    auto exponential_func = [lambda_] __device__ (float rand) { return rand; };
    distribution_nullary_kernel(iter, gen, [] __device__ (float state) { return state; }, exponential_func);
  });
}

template <typename RNG>
void bernoulli_kernel(const TensorBase &self, double p, RNG gen) { //! hop bernoulli_.float function
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "bernoulli_scalar_cuda_", [&] {
    distribution_nullary_kernel(iter, gen, [] __device__ (float state) { return state; }, p);
  });
}

} // namespace templates::cuda
} // namespace at::native
