#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/CPUBlas.h>

namespace at::native {
namespace cpublas {
namespace {

template <typename scalar_t, typename opmath_t>
void gemm_core_(int64_t m, int64_t n, int64_t k) {
  at::parallel_for(0, m, 1, [&](int64_t begin, int64_t end) {});
}

void cpublas_gemm_impl( //! implements gemm_stub CPU
    at::ScalarType type,
    int64_t m, int64_t n, int64_t k) {
  AT_DISPATCH_FLOATING_TYPES(type, "cpublas_gemm_impl", [&] { gemm_core_<scalar_t, scalar_t>(m, n, k); }); //! dtypes Double,Float
}

void cpublas_copy_impl(at::ScalarType type, int64_t n, const void* x, int64_t incx, void* y, int64_t incy) { //! implements copy_stub CPU
  AT_DISPATCH_FLOATING_TYPES(type, "cpublas_copy_impl", [&] {});
}

}}  // namespace cpublas::(anonymous)

REGISTER_DISPATCH(cpublas::gemm_stub, &cpublas::cpublas_gemm_impl) //! registers gemm_stub CPU cpublas_gemm_impl
REGISTER_DISPATCH(cpublas::copy_stub, &cpublas::cpublas_copy_impl) //! registers copy_stub CPU cpublas_copy_impl

} // namespace at::native
