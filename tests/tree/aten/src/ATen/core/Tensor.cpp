#include <ATen/core/Tensor.h>

namespace at {

// A method, in at and not in at::native.
Tensor Tensor::detach() const { //! not-kernel detach
  return impl::GetVariableHooks()->variable_data(*this);
}

bool TensorBase::is_floating_point() const { //! not-kernel is_floating_point
  return isFloatingType(scalar_type());
}

} // namespace at
