#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/TensorCompare.h>

namespace at::meta {

TORCH_META_FUNC(clamp_min)(const Tensor& self, const Scalar& min) { //! meta clamp_min.out
  ScalarType result_type = self.scalar_type();
  TORCH_CHECK(!isComplexType(result_type), "clamp is not supported for complex types");
  build_borrowing_unary_op(maybe_get_output(), self.to(result_type));
}

} // namespace at::meta

namespace at::native {

DEFINE_DISPATCH(clamp_min_scalar_stub); // NOLINT(cppcoreguidelines-avoid-non-const-global-variables) //! defines clamp_min_scalar_stub

TORCH_IMPL_FUNC(clamp_min_out) //! kernel clamp_min.out CPU,CUDA
(const Tensor& self, const Scalar& min, const Tensor& result) {
  if (min.to<double>() != min.to<double>()) {
    at::fill_(const_cast<Tensor&>(result), min);
  } else {
    clamp_min_scalar_stub(device_type(), *this, min);
  }
}

} // namespace at::native
