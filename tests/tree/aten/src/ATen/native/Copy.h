#pragma once

#include <ATen/native/DispatchStub.h>

namespace at {

class Tensor;
struct TensorIterator;

namespace native {

using copy_fn = void (*)(TensorIterator&, bool non_blocking);

DECLARE_DISPATCH(copy_fn, copy_stub) //! declares copy_stub

} // namespace native
} // namespace at
