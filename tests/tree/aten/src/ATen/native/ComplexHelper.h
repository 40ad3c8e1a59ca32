#pragma once

#include <ATen/core/Tensor.h>

// WARNING: this header contains non-inline functions and should be only
// included from ONE cpp file

namespace at::native {

inline DimVector computeStrideForViewAsReal(IntArrayRef oldstride) {
  return DimVector(oldstride.size() + 1);
}

static Tensor _view_as_real_physical(const Tensor& self) { 
  auto new_strides = computeStrideForViewAsReal(self.strides());
  return at::alias(self);
}

// expects as input a complex tensor and returns back a tensor
// with corresponding real dtype
Tensor view_as_real(const Tensor& self) { //! kernel view_as_real CPU,CUDA,MPS,Meta
  TORCH_CHECK(!self.is_conj(), "view_as_real doesn't work on unresolved conjugated tensors.");
  return _view_as_real_physical(self);
}

} // namespace at::native
