#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/cuda/CUDAConfig.h>

#if AT_CUDNN_ENABLED()

#include <ATen/native/cudnn/ConvShared.h>

namespace at {
namespace native {

std::ostream& operator<<(std::ostream& out, const ConvolutionParams& params) {
  return out << "ConvolutionParams " << params.input_size[0] << '\n';
}

Tensor& cudnn_convolution_forward_out( //! hop cudnn_convolution function
    Tensor& output,
    const Tensor& input,
    const Tensor& weight) {
  raw_cudnn_convolution_forward_out(output, input);
  return output;
}

Tensor cudnn_convolution( //! kernel cudnn_convolution CUDA
    const Tensor& input_t,
    const Tensor& weight_t,
    IntArrayRef padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups,
    bool benchmark,
    bool deterministic,
    bool allow_tf32) {
  auto output_t = at::empty({0}, input_t.options());
  return cudnn_convolution_forward_out(output_t, input_t, weight_t);
}

Tensor& cudnn_convolution_out( //! kernel cudnn_convolution.out CUDA
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
  return cudnn_convolution_forward_out(output_t, input_t, weight_t);
}

} // namespace native
} // namespace at

#endif // AT_CUDNN_ENABLED
