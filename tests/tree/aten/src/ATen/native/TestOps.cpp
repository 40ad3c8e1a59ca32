// Operators that only tests use.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>

namespace at::native {

/// If the `incr` is true ... a comment with braces { and a quote "
Tensor _test_autograd_multiple_dispatch_fullcoverage(const Tensor &self) { //! kernel _test_autograd_multiple_dispatch.fullcoverage CompositeExplicitAutograd
  return self.clone();
}

} // namespace at::native
