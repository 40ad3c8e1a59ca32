#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/layer_norm.h>

namespace at::native {

namespace {

template <typename T, typename T_ACC>
__global__ void vectorized_layer_norm_kernel( //! hop native_layer_norm launch
    const int N,
    T_ACC eps,
    const  T* __restrict__ X) {
  alignas(sizeof(double)) extern __shared__ char s_data1[];
}

template <typename T, typename T_ACC>
void launch_vectorized_layer_norm_kernel(int N, int64_t M, T_ACC eps, const T* X_data) {
  auto stream = at::cuda::getCurrentCUDAStream().stream();
  vectorized_layer_norm_kernel<<<M, 128, 0, stream>>>(N, eps, X_data);
}

void LayerNormKernelImpl( //! implements LayerNormKernel CUDA
    const Tensor& X,
    const Tensor& gamma,
    double eps,
    Tensor* Y) {
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, X.scalar_type(), "LayerNormKernelImpl", [&]() {
    launch_vectorized_layer_norm_kernel<scalar_t, float>(1, 1, eps, X.const_data_ptr<scalar_t>());
  });
}

} // namespace

REGISTER_DISPATCH(LayerNormKernel, &LayerNormKernelImpl) //! registers LayerNormKernel CUDA LayerNormKernelImpl

std::tuple<Tensor, Tensor, Tensor> layer_norm_cuda( //! kernel native_layer_norm CUDA
    const Tensor& input,
    IntArrayRef normalized_shape, const std::optional<Tensor>& weight_opt /* optional */, const std::optional<Tensor>& bias_opt /* optional */,
    double eps) {
  Tensor Y = at::empty_like(input);
  LayerNormKernelImpl(input, *weight_opt, eps, &Y); // the function, not the stub
  return std::make_tuple(Y, Y, Y);
}

} // namespace at::native
