#pragma once
#include <ATen/native/Activation.h>

namespace at::native {

void GeluCUDAKernelImpl(TensorIteratorBase& it, GeluType approximate);

} // namespace at::native
