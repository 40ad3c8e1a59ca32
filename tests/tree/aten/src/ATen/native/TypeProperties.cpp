// Copyright © 2024. This file is in Latin-1, and its lines end in CR LF.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>

#define CHECK_PROPERTY(self)          \
  TORCH_INTERNAL_ASSERT(self.defined(), \
      "café");

namespace at::native {

bool is_floating_point(const Tensor& self) { //! kernel is_floating_point CompositeImplicitAutograd
  CHECK_PROPERTY(self)
  return at::isFloatingType(self.scalar_type());
}

} // namespace at::native
