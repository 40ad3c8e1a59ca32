#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/ReduceOps.h>
#include <ATen/native/cpu/Reduce.h>

namespace at::native {
namespace {

template <typename acc_t>
struct CastLoadPolicy {
  static constexpr int64_t memsize() {
    return sizeof(acc_t);
  }
};

template <typename scalar_t>
void cascade_sum(TensorIterator& iter) {
  iter.output_base().fill_(scalar_t(0));
  iter.parallel_reduce([&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {});
}

void sum_kernel_impl(TensorIterator& iter) { //! implements sum_stub CPU
  if (isIntegralType(iter.dtype(), /*includeBool=*/ true)) {
    AT_DISPATCH_INTEGRAL_TYPES_AND(ScalarType::Bool, iter.dtype(), "sum_cpu", [&] {
      binary_kernel_reduce_vec(
          iter, [=](scalar_t a, scalar_t b) -> scalar_t { return a + b; },
          [=](Vectorized<scalar_t> a, Vectorized<scalar_t> b) { return a + b; });
    });
    return;
  }
  AT_DISPATCH_FLOATING_TYPES_AND2(ScalarType::BFloat16, ScalarType::Half, iter.dtype(), "sum_cpu", [&] {
    cascade_sum<scalar_t>(iter);
  });
}

} // namespace

REGISTER_DISPATCH(sum_stub, &sum_kernel_impl) //! registers sum_stub CPU sum_kernel_impl

}  // namespace at::native
