#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native::cpublas {

using gemm_fn = void (*)(at::ScalarType type, int64_t m, int64_t n, int64_t k);

DECLARE_DISPATCH(gemm_fn, gemm_stub) //! declares gemm_stub

void gemm(int64_t m, int64_t n, int64_t k, double alpha, const double* a, double* c);
void gemm(int64_t m, int64_t n, int64_t k, float alpha, const float* a, float* c);

// A second stub of this name: at::native::copy_stub is the tensors' one.
using copy_fn = void (*)(at::ScalarType type, int64_t n, const void* x, int64_t incx, void* y, int64_t incy);
DECLARE_DISPATCH(copy_fn, copy_stub) //! declares copy_stub

} // namespace at::native::cpublas
