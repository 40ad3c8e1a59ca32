#include "NPUNativeFunctions.h"

namespace my_npu::native {

at::Tensor NPUNativeFunctions::abs(const at::Tensor& self) { // mark: npu abs
  return self;
}

at::Tensor& NPUNativeFunctions::abs_out(const at::Tensor& self, at::Tensor& out) { // mark: npu abs.out
  return out;
}

at::Tensor NPUNativeFunctions::npu_pack(const at::Tensor& self, int64_t format) { // mark: npu_pack
  return self;
}

} // namespace my_npu::native
