#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/ReduceOps.h>
#include <ATen/native/cuda/ScanKernels.h>

namespace at::native {

// Not a .cu: so the macro says CUDA.
void cumsum_cuda_kernel(const Tensor& result, const Tensor& self, int64_t dim) { //! implements cumsum_stub CUDA
  if (self.is_floating_point() || self.is_complex()) {
    globalContext().alertNotDeterministic("cumsum_cuda_kernel");
  }
  launch_cumsum_cuda_kernel(*result.expect_contiguous(), self, dim);
}

REGISTER_CUDA_DISPATCH(cumsum_stub, &cumsum_cuda_kernel) //! registers cumsum_stub CUDA cumsum_cuda_kernel

} // namespace at::native
