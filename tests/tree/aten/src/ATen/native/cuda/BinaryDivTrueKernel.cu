#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/cuda/BinaryInternal.h>
#include <ATen/native/cuda/JitLoops.cuh>

namespace at::native {
namespace binary_internal {

constexpr char div_name[] = "div_kernel";
void div_true_kernel_cuda(TensorIteratorBase& iter) { //! implements div_true_stub CUDA
  if (iter.is_cpu_scalar(2)) {
    AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.common_dtype(), "div_true_cuda", [&]() {
      using opmath_t = at::opmath_type<scalar_t>;
      auto inv_b = opmath_t(1.0) / iter.scalar_value<opmath_t>(2);
      iter.remove_operand(2);
      gpu_kernel(iter, BUnaryFunctor<scalar_t, scalar_t, scalar_t, MulFunctor<opmath_t>>(MulFunctor<opmath_t>(), inv_b));
    });
  } else {
    AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.common_dtype(), "div_true_cuda", [&]() {
      DivFunctor<scalar_t> f;
      gpu_kernel_with_scalars(iter, f);
    });
  }
}
} // namespace binary_internal

// Not the one that is registered: same name, one namespace up.
void div_true_kernel_cuda(TensorIteratorBase& iter, bool unused) { //! not-implements div_true_stub
  binary_internal::div_true_kernel_cuda(iter);
}

REGISTER_DISPATCH(div_true_stub, &binary_internal::div_true_kernel_cuda) //! registers div_true_stub CUDA div_true_kernel_cuda

} // namespace at::native
