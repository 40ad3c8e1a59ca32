#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/UnaryOps.h>
#include <ATen/native/cpu/Loops.h>

namespace at::native {

inline namespace CPU_CAPABILITY {

using namespace vec;

static void sigmoid_kernel(TensorIteratorBase& iter) { //! implements sigmoid_stub CPU
  const auto dtype = iter.common_dtype();
  if (at::isReducedFloatingType(dtype)) {
    AT_DISPATCH_REDUCED_FLOATING_TYPES(dtype, "sigmoid_cpu_reduced_float", [&]() {
      cpu_kernel_vec(
          iter,
          [=](scalar_t a) -> scalar_t { return static_cast<float>(1) / (1 + std::exp(-a)); },
          [=](Vectorized<scalar_t> a) { return a.neg().exp(); });
    });
  } else {
    AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(dtype, "sigmoid_cpu", [&]() {
      cpu_kernel(iter, [=](scalar_t a) -> scalar_t { return static_cast<scalar_t>(1) / (1 + std::exp(-a)); });
    });
  }
}

void abs_kernel(TensorIteratorBase& iter) { //! implements abs_stub CPU
  auto dtype = iter.dtype();
  AT_DISPATCH_ALL_TYPES_AND2(kBFloat16, kHalf, dtype, "abs_cpu", [&]() {
    cpu_kernel_vec(
        iter,
        [=](scalar_t a) -> scalar_t { return abs_impl(a); },
        [=](Vectorized<scalar_t> a) { return a.abs(); });
  });
}

void logical_not_kernel(TensorIteratorBase& iter) { //! implements logical_not_stub CPU
  // two dispatches, one inside the other
  AT_DISPATCH_ALL_TYPES_AND(kBool, iter.dtype(1), "logical_not_cpu", [&]() {
    using self_t = scalar_t;
    AT_DISPATCH_ALL_TYPES_AND(kBool, iter.dtype(0), "logical_not_cpu", [&]() {
      cpu_kernel(iter, [](self_t a) -> scalar_t { return static_cast<scalar_t>(!a); });
    });
  });
}

#define IMPLEMENT_ITERATOR_LAMBDA(op)                              \
  [&](char** data_, const int64_t* strides, int64_t n) {           \
    scalar_t* out_data = reinterpret_cast<scalar_t*>(data_[0]);    \
    vec::v##op(out_data, reinterpret_cast<scalar_t*>(data_[1]), n); \
  }

#define IMPLEMENT_FLOAT_KERNEL(op)                                         \
  inline namespace CPU_CAPABILITY {                                        \
  void op##_kernel(TensorIteratorBase& iter) {                             \
    AT_DISPATCH_FLOATING_TYPES_AND2(kBFloat16, kHalf, iter.dtype(), #op "_vml_cpu", [&]() { \
      iter.for_each(IMPLEMENT_ITERATOR_LAMBDA(op), 2048);                  \
    });                                                                    \
  }                                                                        \
  }

#define IMPLEMENT_FLOAT_KERNEL_WITHOUT_AVX512(op) \
  IMPLEMENT_FLOAT_KERNEL(op)                      \
  REGISTER_DISPATCH(op##_stub, &CPU_CAPABILITY::op##_kernel)

#define STATIC_IMPLEMENT_COMPLEX_KERNEL(op)                                \
  inline namespace CPU_CAPABILITY {                                        \
  static void op##_kernel(TensorIteratorBase& iter) {                      \
    AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(kBFloat16, kHalf, iter.dtype(), #op "_vml_cpu", [&]() { \
      iter.for_each(IMPLEMENT_ITERATOR_LAMBDA(op), 2048);                  \
    });                                                                    \
  }                                                                        \
  }

#define STATIC_IMPLEMENT_COMPLEX_KERNEL_WITH_AVX512(op) \
  STATIC_IMPLEMENT_COMPLEX_KERNEL(op)                   \
  ALSO_REGISTER_AVX512_DISPATCH(op##_stub, &CPU_CAPABILITY::op##_kernel)

} // CPU_CAPABILITY namespace

// The following kernels are slower with AVX512
REGISTER_DISPATCH(abs_stub, &CPU_CAPABILITY::abs_kernel) //! registers abs_stub CPU abs_kernel
REGISTER_DISPATCH(logical_not_stub, &CPU_CAPABILITY::logical_not_kernel) //! registers logical_not_stub CPU logical_not_kernel
IMPLEMENT_FLOAT_KERNEL_WITHOUT_AVX512(ceil) //! registers ceil_stub CPU ceil_kernel; implements ceil_stub CPU

// The following kernels are compute-intensive & are compiled with both AVX512
// & AVX2
ALSO_REGISTER_AVX512_DISPATCH(sigmoid_stub, &CPU_CAPABILITY::sigmoid_kernel) //! registers sigmoid_stub CPU sigmoid_kernel
STATIC_IMPLEMENT_COMPLEX_KERNEL_WITH_AVX512(sin) //! registers sin_stub CPU sin_kernel; implements sin_stub CPU

} // namespace at::native
