#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/cuda/PersistentSoftmax.cuh>

namespace at::native {

namespace {

constexpr int ALIGN_BYTES = 16;

template<typename T, typename AccumT, typename OutT>
struct SoftMaxForwardEpilogue {
  __device__ __forceinline__ SoftMaxForwardEpilogue(AccumT max_input, AccumT sum)
    : max_input(max_input)
    , sum(sum) {}

  __device__ __forceinline__ OutT operator()(T input) const {
    return static_cast<OutT>(std::exp(input - max_input) / sum);
  }

  const AccumT max_input;
  const AccumT sum;
};

template <typename scalar_t, typename accscalar_t, typename outscalar_t, template <typename, typename, typename> class Epilogue>
__global__ void cunn_SpatialSoftMaxForward( //! hop _softmax launch
    outscalar_t *output, const scalar_t *input,
    uint32_t outer_size, uint32_t dim_size, uint32_t inner_size)
{
  extern __shared__ unsigned char smem[];
}

template <int ILP, typename scalar_t, typename accscalar_t, typename outscalar_t, template <typename, typename, typename> class Epilogue>
__global__ void
cunn_SoftMaxForward(outscalar_t *output, const scalar_t *input, int classes) //! hop _softmax launch
{
  extern __shared__ unsigned char smem[];
}

template <template<typename, typename, typename> class Epilogue, bool is_log_softmax>
Tensor host_softmax(const Tensor & input_, const int64_t dim_, const bool half_to_float, const Tensor& output){ //! hop _softmax function
  auto input = input_.contiguous();
  int64_t dim_size = input.size(dim_);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, input.scalar_type(), "host_softmax", [&] {
    using accscalar_t = acc_type<scalar_t, true>;
    if (dim_size <= 1024 && dim_size*sizeof(scalar_t) <= 4096) {
      dispatch_softmax_forward<scalar_t, scalar_t, accscalar_t, is_log_softmax>(nullptr, nullptr, dim_size, dim_size, 1);
    } else {
      constexpr int ILP = sizeof(float4) / sizeof(scalar_t);
      cunn_SoftMaxForward<ILP, scalar_t, accscalar_t, scalar_t, Epilogue>
        <<<1, SoftMaxForward_getBlockSize(dim_size), 0, stream>>>(output_ptr, input_ptr, dim_size);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
      if (inner_size > 1) cunn_SpatialSoftMaxForward<scalar_t, accscalar_t, scalar_t, Epilogue>
        <<<1, 1, 0, stream>>>(output_ptr, input_ptr, 1, dim_size, 1);
    }
  });
  return output;
}

// Never launched, so in nobody's chain.
__global__ void cunn_SoftMaxUnused(float *output) //! not-hop _softmax
{
}

}

TORCH_IMPL_FUNC(softmax_cuda_out) ( //! kernel _softmax.out CUDA
  const Tensor &input,
  const int64_t dim,
  const bool half_to_float,
  const Tensor &output) {
  host_softmax<SoftMaxForwardEpilogue,false>(input, dim, half_to_float, output);
}

Tensor softmax_backward_cuda(const Tensor &grad, const Tensor &output, int64_t dim, ScalarType input_dtype) { //! kernel _softmax_backward_data CUDA
  return grad * output;
}

} // namespace at::native
