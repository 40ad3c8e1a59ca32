#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

using batch_norm_fn = void (*)(Tensor&, const Tensor&, double);
DECLARE_DISPATCH(batch_norm_fn, batch_norm_cpu_stub) //! declares batch_norm_cpu_stub

} // namespace at::native
