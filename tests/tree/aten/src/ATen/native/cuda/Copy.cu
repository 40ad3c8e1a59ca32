#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/Copy.h>
#include <ATen/native/cuda/Loops.cuh>

namespace at::native {

void direct_copy_kernel_cuda(TensorIteratorBase &iter) { //! hop copy_ function
  AT_DISPATCH_ALL_TYPES_AND2(kBool, kBFloat16, iter.dtype(0), "copy_", [&] {
    gpu_kernel(iter, [] GPU_LAMBDA(scalar_t x) { return x; });
  });
}

static void copy_kernel_cuda(TensorIterator& iter, bool non_blocking) { //! implements copy_stub CUDA
  if (iter.numel() == 0) {
    AT_CUDA_CHECK(cudaMemcpyAsync(nullptr, nullptr, 0, cudaMemcpyDeviceToDevice));
    return;
  }
  direct_copy_kernel_cuda(iter);
}

REGISTER_DISPATCH(copy_stub, &copy_kernel_cuda) //! registers copy_stub CUDA copy_kernel_cuda

} // namespace at::native
