#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/cuda/CUDABlas.h>

namespace at::native {

namespace {

// Which library runs is decided here, at run time.
Tensor& addmm_out_cuda_impl(Tensor& result, const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) { //! hop addmm function
  bool useLtInterface = self.dim() == 1 && result.dim() == 2 && self.is_contiguous();
  if (useLtInterface) {
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::ScalarType::Half, at::ScalarType::BFloat16, result.scalar_type(), "addmm_cuda_lt", [&] {
          at::cuda::blas::gemm_and_bias<scalar_t>(mat1.size(0), mat2.size(1), alpha.to<float>());
        });
  } else {
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::ScalarType::Half, at::ScalarType::BFloat16, result.scalar_type(), "addmm_cuda", [&] {
          at::cuda::blas::gemm<scalar_t>('n', 'n', mat1.size(0), mat2.size(1), alpha.to<float>());
        });
  }
  return result;
}

} // anonymous namespace

TORCH_IMPL_FUNC(addmm_out_cuda)(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha, const Tensor& result) { //! kernel addmm.out CUDA
  addmm_out_cuda_impl(const_cast<Tensor&>(result), self, mat1, mat2, beta, alpha);
}

TORCH_IMPL_FUNC(mm_out_cuda)(const Tensor& self, const Tensor& mat2, const Tensor& result) { //! kernel mm.out CUDA
  addmm_out_cuda_impl(const_cast<Tensor&>(result), result, self, mat2, 0, 1);
}

} // namespace at::native
