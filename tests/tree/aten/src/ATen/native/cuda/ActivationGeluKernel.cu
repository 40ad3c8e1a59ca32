#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/cuda/Activation.h>
#include <ATen/native/cuda/Loops.cuh>

namespace at::native {

void GeluCUDAKernelImpl(TensorIteratorBase& it, GeluType approximate) { //! hop gelu.out function
  if (approximate == GeluType::Tanh) {
    AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, it.dtype(), "GeluCUDAKernelImpl", [&]() {
      gpu_kernel(it, [] GPU_LAMBDA(scalar_t x) -> scalar_t {
        using opmath_t = at::opmath_type<scalar_t>;
        return static_cast<opmath_t>(x) * opmath_t(0.5);
      });
    });
  }
}

} // namespace at::native
