#pragma once

// The loops that element-wise kernels of CUDA run.

namespace at::native {

template <int vec_size, typename func_t, typename array_t>
C10_LAUNCH_BOUNDS_1(num_threads())
__global__ void vectorized_elementwise_kernel(int N, func_t f, array_t data) { //! hop sin launch
  elementwise_kernel_helper(f, memory::policies::vectorized<vec_size, array_t>(data));
}

template <typename func_t, typename array_t, typename inp_calc_t, typename out_calc_t>
C10_LAUNCH_BOUNDS_1(num_threads())
__global__ void unrolled_elementwise_kernel( //! hop sin launch
    int N, func_t f, array_t data, inp_calc_t ic, out_calc_t oc) {
  elementwise_kernel_helper(f, memory::policies::unroll<array_t>(data, N, ic, oc));
}

// this function assume trivial 1d and no dynamic casting
template <typename func_t, typename array_t>
static inline void launch_vectorized_kernel(int64_t N, const func_t& f, array_t data) {
  int64_t grid = (N + block_work_size() - 1) / block_work_size();
  auto stream = at::cuda::getCurrentCUDAStream();
  switch (memory::can_vectorize_up_to<func_t>(data)) {
    case 4:
      vectorized_elementwise_kernel<4, func_t, array_t><<<grid, num_threads(), 0, stream>>>(N, f, data);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
      break;
    case 1: {
      auto input_calc = TrivialOffsetCalculator<1>();
      unrolled_elementwise_kernel<func_t, array_t><<<grid, num_threads(), 0, stream>>>(N, f, data, input_calc, input_calc);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
      break;
    }
    default:
      TORCH_INTERNAL_ASSERT(false, "Unexpected vectorization size");
  }
}

template <typename func_t>
void gpu_kernel_impl(TensorIteratorBase& iter, const func_t& f) {
  std::array<char*, 2> data;
  launch_vectorized_kernel(iter.numel(), f, data);
}

} // namespace at::native
