#include <ATen/native/mps/OperationUtils.h>

namespace at::native {

static void check_on_mps(at::ScalarType from, at::ScalarType to) {
  TORCH_CHECK(from == to, "the scalar dtype ", from, " was found, not ", to);
}

} // namespace at::native
