#include <ATen/native/vulkan/ops/Common.h>
#include <torch/library.h>

namespace at {
namespace native {
namespace vulkan {
namespace ops {
namespace {

using namespace api::utils;

// Same names as kernels of at::native, and none of them is one.
Tensor cumsum(const at::Tensor& input_arg, const int64_t dim_arg, const std::optional<ScalarType> dtype) { //! not-kernel cumsum
  return convert(v_output);
}

Tensor relu(const Tensor& self_arg) { //! not-kernel relu
  return self_arg;
}

Tensor add(const Tensor& self_arg, const Scalar& other, const Scalar& alpha) { //! not-kernel add
  return self_arg;
}

Tensor& abs_(Tensor& self) { //! not-kernel abs_
  return self;
}

#ifdef USE_VULKAN_API

TORCH_LIBRARY_IMPL(aten, Vulkan, m) { //! library aten Vulkan
  m.impl(TORCH_SELECTIVE_NAME("aten::cumsum"), TORCH_FN(cumsum)); //! impl cumsum Vulkan cumsum
  m.impl("relu", TORCH_FN(relu));
}

#endif /* USE_VULKAN_API */

} // namespace
} // namespace ops
} // namespace vulkan
} // namespace native
} // namespace at
