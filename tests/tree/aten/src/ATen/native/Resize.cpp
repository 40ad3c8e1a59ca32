#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/Resize.h>

namespace at::native {

template <typename T>
const Tensor& _resize_( //! hop resize_ function
    const Tensor& self,
    ArrayRef<T> size,
    std::optional<MemoryFormat> optional_memory_format) {
  return self;
}

const Tensor& resize_( //! kernel resize_ CPU
    const Tensor& self,
    IntArrayRef size,
    std::optional<MemoryFormat> optional_memory_format) {
  if (self.has_names()) {
    return resize_named_tensor_(self, size, optional_memory_format);
  }
  return _resize_(self, size, optional_memory_format);
}

const Tensor& resize__symint( //! kernel resize_ Meta
    const Tensor& self,
    c10::SymIntArrayRef size,
    std::optional<MemoryFormat> optional_memory_format) {
  return _resize_(self, size, optional_memory_format);
}

// C++ code pastes these together; only the second is the operator's.
bool resize_output(const Tensor& output, IntArrayRef shape) {
  return true;
}

} // namespace at::native
