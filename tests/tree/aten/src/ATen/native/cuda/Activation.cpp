#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/cuda/Activation.h>

namespace at::native {

TORCH_IMPL_FUNC(gelu_out_cuda) ( //! kernel gelu.out CUDA
  const Tensor& /*self*/, std::string_view approximate, const Tensor& /*result*/
) {
  GeluCUDAKernelImpl(*this, get_gelutype_enum(approximate));
}

}  // namespace at::native
