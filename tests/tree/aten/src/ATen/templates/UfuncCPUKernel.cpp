#define TORCH_ASSERT_NO_OPERATORS

#include <ATen/native/ufunc/${name}.h>
#include <ATen/native/cpu/Loops.h>

namespace at {
namespace native {
${native_definitions}
}} // namespace at::native
