#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

using reduce_fn = void (*)(TensorIterator&);
DECLARE_DISPATCH(reduce_fn, sum_stub) //! declares sum_stub
DECLARE_DISPATCH(reduce_fn, mean_stub) //! declares mean_stub

using cum_fn = void (*)(const Tensor&, const Tensor&, int64_t);
DECLARE_DISPATCH(cum_fn, cumsum_stub) //! declares cumsum_stub

} // namespace at::native
