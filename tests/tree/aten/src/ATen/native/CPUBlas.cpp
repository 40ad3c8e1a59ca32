#include <ATen/native/CPUBlas.h>
#include <ATen/native/mkl/LinearAlgebra.h>

#if AT_BUILD_WITH_BLAS()
extern "C" void dgemm_(char *transa, char *transb, int *m, int *n, int *k, double *alpha, const double *a, double *c);
extern "C" void sgemm_(char *transa, char *transb, int *m, int *n, int *k, float *alpha, const float *a, float *c);
#endif // AT_BUILD_WITH_BLAS

namespace at::native::cpublas {

DEFINE_DISPATCH(gemm_stub); //! defines gemm_stub

// A function of its own, whatever the vendor calls his.
static void mkl_gemm_batched(int64_t m, const double* a, double* c) { //! hop addmm device_kernel
  cblas_dgemm_batch(m, a, c);
}

void gemm(int64_t m, int64_t n, int64_t k, const double alpha, const double* a, double* c) { //! hop addmm function
#if AT_BUILD_WITH_BLAS()
  if (use_blas_gemm(m, n, k)) {
    int m_ = m, n_ = n, k_ = k;
    dgemm_("n", "n", &m_, &n_, &k_, &alpha_, a, c);
    mkl_gemm_batched(m, a, c);
    return;
  }
#endif
  gemm_stub(at::kCPU, at::kDouble, m, n, k);
}

void gemm(int64_t m, int64_t n, int64_t k, const float alpha, const float* a, float* c) {
  gemm_stub(at::kCPU, at::kFloat, m, n, k);
}

DEFINE_DISPATCH(copy_stub); //! defines copy_stub

void copy(int64_t n, const double* x, int64_t incx, double* y, int64_t incy) { //! not-kernel copy
  copy_stub(kCPU, at::kDouble, n, x, incx, y, incy);
}

} // namespace at::native::cpublas
