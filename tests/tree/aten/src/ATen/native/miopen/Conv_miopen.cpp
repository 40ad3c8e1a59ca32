#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/Config.h>

// TODO: Remove the condition on AT_ROCM_ENABLED entirely,
// don't build this file as part of CPU build.
#include <ATen/cuda/CUDAConfig.h>

#if !AT_ROCM_ENABLED()

namespace at::native {

// See Note [ATen preprocessor philosophy]

at::Tensor miopen_convolution( //! kernel miopen_convolution CUDA
    const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias_opt /* optional */,
    IntArrayRef padding, IntArrayRef stride, IntArrayRef dilation,
    int64_t groups, bool benchmark, bool deterministic) {
  TORCH_CHECK(false, "miopen_convolution: ATen not compiled with MIOpen support");
}

} // namespace at::native

#else  // AT_ROCM_ENABLED

#include <ATen/miopen/miopen-wrapper.h>

namespace at { namespace native {

Tensor miopen_convolution( //! kernel miopen_convolution CUDA
    const Tensor& input_t, const Tensor& weight_t, const std::optional<Tensor>& bias_t_opt,
    IntArrayRef padding, IntArrayRef stride, IntArrayRef dilation,
    int64_t groups, bool benchmark, bool deterministic) {
  MIOPEN_CHECK(miopenConvolutionForward(nullptr));
  return input_t;
}

}}  // namespace at::native

#endif
