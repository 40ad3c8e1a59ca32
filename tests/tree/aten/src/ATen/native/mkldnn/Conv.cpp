#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/Config.h>

#if !AT_MKLDNN_ENABLED()

namespace at::native {

Tensor mkldnn_convolution( //! kernel mkldnn_convolution CompositeExplicitAutograd
    const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias_opt,
    IntArrayRef padding, IntArrayRef stride, IntArrayRef dilation, int64_t groups) {
  TORCH_CHECK(false, "mkldnn_convolution_forward: ATen not compiled with MKLDNN support");
}

} // namespace at::native

#else // AT_MKLDNN_ENABLED

#include <ATen/native/mkldnn/MKLDNNCommon.h>

namespace at::native {

static Tensor _mkldnn_convolution(const Tensor& input_t, const Tensor& weight_t) { //! hop mkldnn_convolution function
  TORCH_CHECK(mkldnn_low_precision_check(input_t.scalar_type()));
  const ideep::tensor mkldnn_input = itensor_from_tensor(input_t);
  ideep::convolution_forward::compute_v3(mkldnn_input);
  return input_t;
}

Tensor mkldnn_convolution( //! kernel mkldnn_convolution CompositeExplicitAutograd
    const Tensor& input_t,
    const Tensor& weight_t,
    const std::optional<Tensor>& bias_opt,
    IntArrayRef padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups) {
  return _mkldnn_convolution(input_t, weight_t);
}

}  // namespace at::native

#endif
