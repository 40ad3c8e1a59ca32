#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cpu/Loops.h>

namespace at::native {

namespace {

using namespace vec;

// The same local wrapper under two conditions.
#if !defined(C10_MOBILE)
#define _AT_DISPATCH_MUL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_V2(                               \
      TYPE,                                     \
      NAME,                                     \
      AT_WRAP(__VA_ARGS__),                     \
      kBFloat16,                                \
      kHalf,                                    \
      AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX))
#else
#define _AT_DISPATCH_MUL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(kBFloat16, kHalf, TYPE, NAME, __VA_ARGS__)
#endif

void mul_kernel(TensorIteratorBase& iter) { //! implements mul_stub CPU
  auto dtype = iter.common_dtype();
  if (dtype == ScalarType::Bool) {
    cpu_kernel(iter, [=](bool a, bool b) -> bool { return a && b; });
  } else {
    _AT_DISPATCH_MUL_TYPES(dtype, "mul_cpu", [&]() {
      cpu_kernel_vec(
          iter,
          [=](scalar_t a, scalar_t b) __ubsan_ignore_undefined__ -> scalar_t { return a * b; },
          [=](Vectorized<scalar_t> a, Vectorized<scalar_t> b) __ubsan_ignore_undefined__ { return a * b; });
    });
  }
}

void div_true_kernel(TensorIteratorBase& iter) { //! implements div_true_stub CPU
  const auto dtype = iter.common_dtype();
  AT_DISPATCH_FLOATING_TYPES_AND2(kBFloat16, kHalf, dtype, "div_cpu", [&]() {
    cpu_kernel_vec(
        iter,
        [](scalar_t a, scalar_t b) __ubsan_ignore_float_divide_by_zero__ -> scalar_t { return a / b; },
        [](Vectorized<scalar_t> a, Vectorized<scalar_t> b) { return a / b; });
  });
}

void div_floor_kernel(TensorIteratorBase& iter) { //! implements div_floor_stub CPU
  const auto big = 1'000'000'000LL; // digit separators are no character literals
  AT_DISPATCH_INTEGRAL_TYPES(iter.common_dtype(), "div_floor_cpu", [&] {
    cpu_kernel(iter, [=](scalar_t a, scalar_t b) -> scalar_t { return a == big ? 0x7f'ff : a / b; });
  });
}

static void eq_kernel(TensorIteratorBase& iter) { //! implements eq_stub CPU
  AT_DISPATCH_V2(iter.common_dtype(), "eq_cpu", AT_WRAP([&]() {
    cpu_kernel(iter, [](scalar_t a, scalar_t b) -> bool { return a == b; });
  }), kBool, kHalf, AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX));
}

void logical_xor_kernel(TensorIterator& iter) { //! implements logical_xor_stub CPU
  cpu_kernel(iter, [](bool a, bool b) -> bool { return a != b; });
}

} // namespace

REGISTER_DISPATCH(mul_stub, &mul_kernel) //! registers mul_stub CPU mul_kernel
REGISTER_DISPATCH(div_true_stub, &div_true_kernel) //! registers div_true_stub CPU div_true_kernel
REGISTER_DISPATCH(div_floor_stub, &div_floor_kernel); //! registers div_floor_stub CPU div_floor_kernel
REGISTER_DISPATCH(eq_stub, &eq_kernel) //! registers eq_stub CPU eq_kernel
// REGISTER_DISPATCH(sub_stub, &sub_kernel)
REGISTER_DISPATCH(logical_xor_stub, logical_xor_kernel) //! registers logical_xor_stub CPU logical_xor_kernel

} // namespace at::native
