#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

// a declaration over several lines
DECLARE_DISPATCH( //! declares clamp_min_scalar_stub
    void (*)(TensorIteratorBase&, c10::Scalar),
    clamp_min_scalar_stub)

} // namespace at::native
