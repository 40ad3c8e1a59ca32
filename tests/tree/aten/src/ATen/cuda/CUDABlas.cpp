#include <ATen/cuda/CUDABlas.h>

#define GEMM_CHECK_ARGVALUES(Dtype)          \
  do {                                       \
    CUDABLAS_NONNEGINT_CHECK(gemm<Dtype>, m); \
  } while (0)

namespace at::cuda::blas {

template <>
void gemm<double>(CUDABLAS_GEMM_ARGTYPES(double)) {
  cublasHandle_t handle = at::cuda::getCurrentCUDABlasHandle();
  GEMM_CHECK_ARGVALUES(double);
  TORCH_CUDABLAS_CHECK(cublasDgemm(handle, m, n, &alpha));
}

template <>
void gemm<float>(CUDABLAS_GEMM_ARGTYPES(float)) {
  cublasHandle_t handle = at::cuda::getCurrentCUDABlasHandle();
  GEMM_CHECK_ARGVALUES(float);
  TORCH_CUDABLAS_CHECK(cublasSgemm(handle, m, n, &alpha));
}

template <typename Dtype>
void gemm_and_bias(int64_t m, int64_t n, float alpha) { //! hop addmm function
  cublasLtHandle_t ltHandle = at::cuda::getCurrentCUDABlasLtHandle();
  TORCH_CUDABLAS_CHECK(cublasLtMatmul(ltHandle, &alpha));
}

} // namespace at::cuda::blas
