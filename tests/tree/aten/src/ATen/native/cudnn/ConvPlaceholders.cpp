#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/cuda/CUDAConfig.h> // for the definition of AT_CUDNN_ENABLED

namespace at::native {

#if !AT_CUDNN_ENABLED()

// See Note [ATen preprocessor philosophy]

at::Tensor cudnn_convolution( //! kernel cudnn_convolution CUDA
    const at::Tensor& input,
    const at::Tensor& weight,
    IntArrayRef padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups,
    bool benchmark,
    bool deterministic,
    bool allow_tf32) {
  TORCH_CHECK(false, "cudnn_convolution: ATen not compiled with cuDNN support");
}

at::Tensor& cudnn_convolution_out( //! kernel cudnn_convolution.out CUDA
    const Tensor& input_t,
    const Tensor& weight_t,
    IntArrayRef padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups,
    bool benchmark,
    bool deterministic,
    bool allow_tf32,
    Tensor& output_t) {
  TORCH_CHECK(
      false, "cudnn_convolution_out: ATen not compiled with cuDNN support");
}

void raw_cudnn_convolution_forward_out(const Tensor& output, const Tensor& input) {
  TORCH_CHECK(false, "raw_cudnn_convolution_forward_out: ATen not compiled with cuDNN support");
}

#endif // AT_CUDNN_ENABLED

} // namespace at::native
