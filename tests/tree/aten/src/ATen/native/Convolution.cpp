#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/ConvUtils.h>

namespace at::native {

DEFINE_DISPATCH(convolution_backward_stub); //! defines convolution_backward_stub
REGISTER_NO_CPU_DISPATCH(convolution_backward_stub) //! registers convolution_backward_stub CPU nullptr

template <typename T>
struct ConvParams {
  std::vector<int64_t> stride;
  bool use_cudnn(const at::Tensor& input, const at::Tensor& weight) const {
    return detail::getCUDAHooks().compiledWithCuDNN() && input.is_cuda();
  }
  bool is_transposed() const;
};

template <typename T>
bool ConvParams<T>::is_transposed() const {
  return !stride.empty();
}

static ConvBackend _select_conv_backend(const Tensor& input, const Tensor& weight, const ConvParams<int64_t>& params) { //! hop convolution function
  if (params.use_cudnn(input, weight)) {
    return ConvBackend::Cudnn;
  }
  return ConvBackend::Mkldnn;
}

// Which back end runs is decided at run time.
at::Tensor convolution( //! kernel convolution CompositeExplicitAutograd
    const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias_opt,
    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
    bool transposed, IntArrayRef output_padding, int64_t groups) {
  ConvParams<int64_t> params;
  Tensor output;
  switch (_select_conv_backend(input, weight, params)) {
    case ConvBackend::Cudnn:
      output = at::cudnn_convolution(input, weight, padding, stride, dilation, groups, true, false, true); //! hop convolution
      break;
    case ConvBackend::Mkldnn:
#if AT_MKLDNN_ENABLED()
      output = at::mkldnn_convolution(input, weight, *bias_opt, padding, stride, dilation, groups);
      break;
#else
      TORCH_INTERNAL_ASSERT(false, "Mkldnn backend was selected in PyTorch compiled without mkldnn support");
#endif
  }
  return output;
}

} // namespace at::native
