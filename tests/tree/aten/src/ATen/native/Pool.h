#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

using max_pool2d_fn = void(*)(const Tensor& output, const Tensor& indices, const Tensor& input, int kW, int kH);
DECLARE_DISPATCH(max_pool2d_fn, max_pool2d_kernel) //! declares max_pool2d_kernel

// Declared and registered, never defined.
using avg_pool3d_fn = void(*)(const Tensor& output, const Tensor& input);
DECLARE_DISPATCH(avg_pool3d_fn, avg_pool3d_kernel) //! declares avg_pool3d_kernel

} // namespace at::native
