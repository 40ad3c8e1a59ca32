#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/cuda/CUDAConfig.h>

#if AT_CUDNN_ENABLED()

namespace at {
namespace native {

namespace {

void run_conv_plan(cudnnHandle_t handle, const Tensor& x, const Tensor& y) {
  AT_CUDNN_CHECK(cudnnBackendExecute(handle, nullptr, nullptr));
}

} // namespace

void raw_cudnn_convolution_forward_out(const Tensor& output, const Tensor& input) { //! hop cudnn_convolution function
  run_conv_plan(getCudnnHandle(), input, output);
}

} // namespace native
} // namespace at

#endif // AT_CUDNN_ENABLED
