#pragma once

#include <ATen/native/DispatchStub.h>

namespace at { namespace native {

using cat_serial_fn = void(*)(const Tensor &, const MaterializedITensorListRef&, int64_t);
DECLARE_DISPATCH(cat_serial_fn, cat_serial_stub) //! declares cat_serial_stub

}}  // namespace at::native
