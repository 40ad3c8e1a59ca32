#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/UnaryOps.h>
#include <ATen/native/cuda/JitLoops.cuh>

namespace at::native {

constexpr char sin_name[] = "sin_impl";
void sin_kernel_cuda(TensorIteratorBase& iter) { //! implements sin_stub CUDA
  auto common_dtype = iter.common_dtype();
  if (at::isComplexType(common_dtype)) {
    // C++ source in a string, compiled at run time: nothing in it is defined here.
    static const auto sin_string = R"CPP(
      template <typename T>
      T sin_impl(T a) {
        return std::sin(a);
      }
      Tensor& sin_out(const Tensor& self, Tensor& result) { return result; }
      REGISTER_DISPATCH(sin_stub, &sin_impl)
    )CPP";
    AT_DISPATCH_COMPLEX_TYPES_AND(kComplexHalf, common_dtype, "sin_name", [&]() {
      jitted_gpu_kernel</*name=*/sin_name, /*return_dtype=*/scalar_t, /*common_dtype=*/scalar_t, /*arity=*/1>(iter, sin_string);
    });
  } else {
    AT_DISPATCH_FLOATING_TYPES_AND2(ScalarType::Half, ScalarType::BFloat16, common_dtype, "sin_cuda", [&]() {
      gpu_kernel(iter, [] GPU_LAMBDA(scalar_t a) -> scalar_t { return ::sin(a); });
    });
  }
}

template <typename scalar_t>
__host__ __device__ static inline scalar_t ceil_wrapper(scalar_t a) {
  return std::ceil(a);
}

// A helper that shares its name with an operator's kernel, for a static function.
template <typename scalar_t>
static inline Tensor abs_out(const Tensor& a, Tensor& b) { //! not-kernel abs_out
  return b;
}

void ceil_kernel_cuda(TensorIteratorBase& iter) { //! implements ceil_stub CUDA
  AT_DISPATCH_FLOATING_TYPES_AND2(ScalarType::Half, ScalarType::BFloat16, iter.dtype(), "ceil_cuda", [&]() {
    gpu_kernel(iter, [] GPU_LAMBDA(scalar_t a) -> scalar_t { return ceil_wrapper(a); });
  });
}

template <typename scalar_t>
struct AbsFunctor {
  __device__ __forceinline__ scalar_t operator()(const scalar_t a) const {
    return std::abs(a);
  }
};

void abs_kernel_cuda(TensorIteratorBase& iter) { //! implements abs_stub CUDA
  AT_DISPATCH_ALL_TYPES_AND3(ScalarType::Half, ScalarType::BFloat16, ScalarType::Bool, iter.dtype(), "abs_cuda", [&]() {
    gpu_kernel(iter, AbsFunctor<scalar_t>());
  });
}

constexpr char sigmoid_name[] = "sigmoid";
void sigmoid_kernel_cuda(TensorIteratorBase& iter) { //! implements sigmoid_stub CUDA
  static const auto sigmoid_string = jiterator_stringify(
      template <typename T>
      T sigmoid(T x) {
        return T{1} / (T{1} + std::exp(-x));
      }
  ); // sigmoid_string
  jitted_gpu_kernel<sigmoid_name, scalar_t, scalar_t, 1>(iter, sigmoid_string);
}

void logical_not_kernel_cuda(TensorIteratorBase& iter) { //! implements logical_not_stub CUDA
  gpu_kernel(iter, []GPU_LAMBDA(bool a) -> bool { return !a; });
}

REGISTER_DISPATCH(sin_stub, &sin_kernel_cuda) //! registers sin_stub CUDA sin_kernel_cuda
REGISTER_DISPATCH(ceil_stub, &ceil_kernel_cuda) //! registers ceil_stub CUDA ceil_kernel_cuda
REGISTER_DISPATCH(abs_stub, &abs_kernel_cuda) //! registers abs_stub CUDA abs_kernel_cuda
REGISTER_DISPATCH(sigmoid_stub, &sigmoid_kernel_cuda) //! registers sigmoid_stub CUDA sigmoid_kernel_cuda
REGISTER_DISPATCH(logical_not_stub, &logical_not_kernel_cuda) //! registers logical_not_stub CUDA logical_not_kernel_cuda

} // namespace at::native
