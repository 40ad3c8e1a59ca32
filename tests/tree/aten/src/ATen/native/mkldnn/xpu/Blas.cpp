#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/mkldnn/xpu/detail/oneDNN.h>

namespace at::native {
namespace xpu {

// Functions of the same names as the kernels below.
Tensor& addmm_out(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha, Tensor& result) { //! not-kernel addmm_out
  onednn::matmul(result, mat1, mat2, Tensor());
  return result;
}

Tensor& mm_out_xpu(const Tensor& self, const Tensor& mat2, Tensor& result) { //! not-kernel mm_out_xpu
  onednn::matmul(result, self, mat2, Tensor());
  return result;
}

} // namespace xpu

TORCH_IMPL_FUNC(addmm_out_xpu) //! kernel addmm.out XPU
(const Tensor& self,
 const Tensor& mat1,
 const Tensor& mat2,
 const Scalar& beta,
 const Scalar& alpha,
 const Tensor& result) {
  xpu::addmm_out(self, mat1, mat2, beta, alpha, const_cast<Tensor&>(result));
}

TORCH_IMPL_FUNC(mm_out_xpu)(const Tensor& self, const Tensor& mat2, const Tensor& result) { //! kernel mm.out XPU
  xpu::mm_out_xpu(self, mat2, const_cast<Tensor&>(result));
}

} // namespace at::native
