#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/TensorCompare.h>

namespace at::native { namespace {

void clamp_min_scalar_kernel_impl(TensorIteratorBase& iter, Scalar min_) { //! implements clamp_min_scalar_stub CPU
  AT_DISPATCH_ALL_TYPES_AND2(kBFloat16, kHalf, iter.common_dtype(), "clamp_min_scalar_cpu", [&]() {
    const auto min = min_.to<scalar_t>();
    const Vectorized<scalar_t> min_vec(min);
    cpu_kernel_vec(iter,
        [=](scalar_t a) -> scalar_t { return std::max(a, min); },
        [=](Vectorized<scalar_t> a) { return vec::clamp_min(a, min_vec); });
  });
}

} // anonymous namespace

REGISTER_DISPATCH(clamp_min_scalar_stub, &clamp_min_scalar_kernel_impl) //! registers clamp_min_scalar_stub CPU clamp_min_scalar_kernel_impl

} // namespace at::native
