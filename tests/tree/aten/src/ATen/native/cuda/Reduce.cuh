#pragma once

namespace at::native {

template <int max_threads, int output_vec_size, typename R>
C10_LAUNCH_BOUNDS_2(max_threads, 4)
__global__ void reduce_kernel(R reduction) { //! hop sum.IntList_out launch; hop mean.out launch
  reduction.template run<output_vec_size>();
}

template <typename scalar_t, typename func_t>
struct func_wrapper_t {
  func_t combine;
  static inline __device__ scalar_t project(scalar_t arg) {
    return arg;
  }
};

template <typename scalar_t, typename func_t>
func_wrapper_t<scalar_t, func_t> func_wrapper(const func_t& op) {
  return func_wrapper_t<scalar_t, func_t>{op};
}

template <int max_threads, typename R>
static void launch_reduce_kernel(const ReduceConfig& config, const R& reduction) {
  auto stream = at::cuda::getCurrentCUDAStream();
  switch (config.output_vec_size) {
    case 4:
      reduce_kernel<max_threads / 4, 4, R><<<config.grid(), config.block(), 0, stream>>>(reduction);
      break;
    default:
      reduce_kernel<max_threads, 1, R><<<config.grid(), config.block(), 0, stream>>>(reduction);
  }
}

template <typename scalar_t, typename out_scalar_t, int vt0 = 4, typename ops_t>
inline void gpu_reduce_kernel(TensorIterator& iter, const ops_t& ops) {
  auto config = setReduceConfig<scalar_t>(iter);
  launch_reduce_kernel<512>(config, ops);
}

} // namespace at::native
