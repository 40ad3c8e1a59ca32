#include <ATen/cuda/CUDAContext.h>

namespace at::cuda {

cublasHandle_t getCurrentCUDABlasHandle() { //! not-hop addmm
  auto handle = reserveHandle(c10::cuda::current_device());
  cublasSetStream(handle, c10::cuda::getCurrentCUDAStream());
  return handle;
}

cublasLtHandle_t getCurrentCUDABlasLtHandle() { //! not-hop addmm
  cublasHandle_t handle = getCurrentCUDABlasHandle();
  cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
  return reinterpret_cast<cublasLtHandle_t>(handle);
}

} // namespace at::cuda
