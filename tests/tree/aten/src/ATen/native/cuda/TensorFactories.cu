#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/cuda/EmptyTensor.h>

namespace at::native {

Tensor empty_cuda(IntArrayRef size, std::optional<ScalarType> dtype_opt, std::optional<Layout> layout_opt, std::optional<Device> device_opt, std::optional<bool> pin_memory_opt, std::optional<c10::MemoryFormat> memory_format_opt) { //! kernel empty.memory_format CUDA
  Tensor result = at::detail::empty_cuda(size, dtype_opt, layout_opt, device_opt, pin_memory_opt, memory_format_opt);
  return result;
}

} // namespace at::native
