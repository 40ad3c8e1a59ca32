#define TORCH_ASSERT_NO_OPERATORS

#include <ATen/native/ufunc/${name}.h>
${cuda_headers}

namespace at {
namespace native {
${native_declaration}
${native_definitions}
}} // namespace at::native
