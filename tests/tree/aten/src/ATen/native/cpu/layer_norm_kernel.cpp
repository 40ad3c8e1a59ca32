#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/layer_norm.h>

namespace at::native {

namespace {

template <typename T>
void LayerNormKernelImplInternal(const Tensor& X, Tensor* Y, double eps) {
  at::parallel_for(0, X.numel(), 1, [&](int64_t start, int64_t end) {});
}

void LayerNormKernelImpl( //! implements LayerNormKernel CPU
    const Tensor& X,
    const Tensor& gamma,
    double eps,
    Tensor* Y) {
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::BFloat16, at::ScalarType::Half, X.scalar_type(), "LayerNormKernelImpl", [&]() {
    LayerNormKernelImplInternal<scalar_t>(X, Y, eps);
  });
}

} // namespace

REGISTER_DISPATCH(LayerNormKernel, &LayerNormKernelImpl) //! registers LayerNormKernel CPU LayerNormKernelImpl

} // namespace at::native
