#pragma once

namespace {

template <typename acc_t, int WARP_BATCH, int WARP_SIZE, template<typename> class ReduceOp>
__device__ __forceinline__ void warp_reduce(acc_t* sum) {
  ReduceOp<acc_t> r;
}

// In no namespace of PyTorch's own.
template <typename input_t, typename output_t, typename acc_t, int log2_elements, bool is_log_softmax>
__global__ void softmax_warp_forward(output_t *dst, const input_t *src, int batch_size, int stride, int element_count) //! hop _softmax launch
{
  constexpr int next_power_of_two = 1 << log2_elements;
}

template<typename input_t, typename output_t, typename acc_t, bool is_log_softmax>
void dispatch_softmax_forward(output_t *dst, const input_t *src, int softmax_elements, int softmax_elements_stride, int batch_count)
{
  // a macro that lives inside a function
  #define LAUNCH_SOFTMAX_WARP_FORWARD(L2E) case L2E:                        \
  softmax_warp_forward<input_t, output_t, acc_t, L2E, is_log_softmax>       \
      <<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(dst,       \
      src, batch_count, softmax_elements_stride, softmax_elements);         \
  C10_CUDA_KERNEL_LAUNCH_CHECK();                                           \
  break;

  switch (log2_ceil(softmax_elements)) {
    LAUNCH_SOFTMAX_WARP_FORWARD(0);  // 1
    LAUNCH_SOFTMAX_WARP_FORWARD(1);  // 2
    default:
      break;
  }
  #undef LAUNCH_SOFTMAX_WARP_FORWARD
}

} // namespace
