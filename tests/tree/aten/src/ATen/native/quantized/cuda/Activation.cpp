#include <ATen/ATen.h>

namespace at::native {

// this kernel is currently implemented with dequantize -> fp32 relu -> quantize
Tensor relu_quantized_cuda(const Tensor& self) { //! kernel relu QuantizedCUDA
  auto x = self.dequantize().relu();
  return at::quantize_per_tensor(x, self.q_scale(), self.q_zero_point(), self.scalar_type());
}

}  // namespace at::native
