#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/Activation.h>

namespace at::native {

namespace {

void GeluKernelImpl(TensorIteratorBase& it, GeluType approximate) { //! implements GeluKernel CPU
  auto grain_size = at::internal::GRAIN_SIZE;
  AT_DISPATCH_FLOATING_TYPES_AND2(kBFloat16, kHalf, it.dtype(), "GeluKernelImpl", [&]() {
    cpu_kernel_vec(
        it,
        [](scalar_t x) { return x * scalar_t(0.5); },
        [&](Vectorized<scalar_t> x_vec) { return vectorized_gelu(x_vec); },
        grain_size);
  });
}

} // namespace

ALSO_REGISTER_AVX512_DISPATCH(GeluKernel, &GeluKernelImpl) //! registers GeluKernel CPU GeluKernelImpl

} // namespace at::native
