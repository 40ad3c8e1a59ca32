#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/Activation.h>
#include <ATen/native/TensorCompare.h>

namespace at::meta {

TORCH_META_FUNC(gelu) ( //! meta gelu.out
  const Tensor & self, std::string_view approximate
) {
  build_unary_op(maybe_get_output(), self);
}

} // namespace at::meta

namespace at::native {

DEFINE_DISPATCH(GeluKernel); //! defines GeluKernel

TORCH_IMPL_FUNC(gelu_out_cpu) ( //! kernel gelu.out CPU
  const Tensor& self, std::string_view approximate, const Tensor& result
) {
auto approximate_type = get_gelutype_enum(approximate);
#if AT_MKLDNN_ENABLED()
  if (use_mkldnn_gelu(self)) {
    const ideep::tensor& x = itensor_from_tensor(self);
    ideep::eltwise_forward::compute(x, y, ideep::algorithm::eltwise_gelu_erf);
  } else {
    GeluKernel(kCPU, *this, approximate_type);
  }
#else
  GeluKernel(kCPU, *this, approximate_type);
#endif
}

Tensor relu(const Tensor & self) { //! kernel relu CPU,CUDA
  TORCH_CHECK(self.scalar_type() != at::kBool, "Boolean inputs not supported for relu");
  return at::clamp_min(self, 0);
}

Tensor & relu_(Tensor & self) { //! kernel relu_ CPU,CUDA
  TORCH_CHECK(self.scalar_type() != at::kBool, "Boolean inputs not supported for relu");
  return at::clamp_min_(self, 0);
}

}  // namespace at::native
