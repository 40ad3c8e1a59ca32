#pragma once

namespace at::cuda::blas {

#define CUDABLAS_GEMM_ARGTYPES(Dtype) char transa, char transb, int64_t m, int64_t n, float alpha

template <typename Dtype>
inline void gemm(CUDABLAS_GEMM_ARGTYPES(Dtype)) {
  static_assert(false && sizeof(Dtype), "at::cuda::blas::gemm: not implemented");
}

template <>
void gemm<double>(CUDABLAS_GEMM_ARGTYPES(double));
template <>
void gemm<float>(CUDABLAS_GEMM_ARGTYPES(float));

template <typename Dtype>
void gemm_and_bias(int64_t m, int64_t n, float alpha);

} // namespace at::cuda::blas
