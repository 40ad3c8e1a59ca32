#include <ATen/native/BinaryOps.h>
#include <ATen/native/DispatchStub.h>
#include <xpu/MulKernel.h>

namespace at::native {
REGISTER_XPU_DISPATCH(mul_stub, &xpu::mul_kernel); // mark: mul_stub registered

TORCH_IMPL_FUNC(gelu_out_xpu) // mark: gelu_out_xpu
(const Tensor& self, std::string_view approximate, const Tensor& result) {
  xpu::gelu_kernel(*this);
}
} // namespace at::native
