#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/Copy.h>

namespace at::native {
inline namespace CPU_CAPABILITY {

static bool reduced_input(ScalarType input_t, ScalarType output_t) {
  return !at::isFloat8Type(input_t) && at::isReducedFloatingType(input_t);
}

void direct_copy_kernel(TensorIteratorBase &iter) {
  AT_DISPATCH_V2(iter.dtype(0), "copy_kernel", AT_WRAP([&] {
    cpu_kernel_vec(iter, [=](scalar_t a) -> scalar_t { return a; }, [=](Vectorized<scalar_t> a) { return a; });
  }), kBool, AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX));
}

void copy_kernel(TensorIterator& iter, bool /*non_blocking*/) { //! implements copy_stub CPU
  ScalarType dtype = iter.dtype(0);
  if (dtype == iter.dtype(1)) {
    direct_copy_kernel(iter);
  } else {
    AT_DISPATCH_ALL_TYPES_AND3(kHalf, kBool, kBFloat16, dtype, "copy_", [&] {
      using dest_t = scalar_t;
      AT_DISPATCH_ALL_TYPES_AND3(kHalf, kBool, kBFloat16, iter.dtype(1), "copy_", [&] {
        cpu_kernel(iter, [](scalar_t a) -> dest_t { return c10::convert<dest_t>(a); });
      });
    });
  }
}

} // namespace CPU_CAPABILITY

REGISTER_DISPATCH(copy_stub, &copy_kernel) //! registers copy_stub CPU copy_kernel

} // namespace at::native
