#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cuda/Loops.cuh>

namespace at::native { namespace {

enum class EqOpType { EQ, NE };

template <typename scalar_t>
struct CompareEqFunctor {
  CompareEqFunctor(EqOpType op) : op_(op) {}
  const EqOpType op_;
  __device__ __forceinline__ bool operator()(scalar_t a, scalar_t b) const {
    return op_ == EqOpType::EQ ? a == b : a != b;
  }
};
}

C10_NOINLINE void compare_eq_ne_kernel(TensorIteratorBase& iter, EqOpType op) {
  AT_DISPATCH_V2(iter.common_dtype(), "compare_eq_ne_cuda", AT_WRAP([&]() {
    opmath_symmetric_gpu_kernel_with_scalars<scalar_t, bool>(
        iter, CompareEqFunctor<scalar_t>(op));
  }), AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), kComplexHalf, kHalf, kBFloat16, kBool);
}

void eq_kernel_cuda(TensorIteratorBase& iter) { //! implements eq_stub CUDA
  compare_eq_ne_kernel(iter, EqOpType::EQ);
}

void div_floor_kernel_cuda(TensorIteratorBase& iter) { //! implements div_floor_stub CUDA
  AT_DISPATCH_INTEGRAL_TYPES(iter.dtype(), "div_floor_cuda", [&]() {
    gpu_kernel_with_scalars(iter, [] GPU_LAMBDA (scalar_t a, scalar_t b) -> scalar_t {
      return a / b;
    });
  });
}

REGISTER_DISPATCH(eq_stub, &eq_kernel_cuda) //! registers eq_stub CUDA eq_kernel_cuda
REGISTER_DISPATCH(div_floor_stub, &div_floor_kernel_cuda) //! registers div_floor_stub CUDA div_floor_kernel_cuda

} // namespace at::native
