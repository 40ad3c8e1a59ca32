#pragma once
#include <ATen/native/TensorIterator.h>

namespace at::native::xpu {
void mul_kernel(TensorIteratorBase& iter);
void gelu_kernel(TensorIteratorBase& iter);
} // namespace at::native::xpu
