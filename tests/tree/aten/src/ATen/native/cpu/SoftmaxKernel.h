#pragma once

#include <ATen/native/DispatchStub.h>

namespace at {
class Tensor;

namespace native {

using forward_fn = void (*)(const Tensor&, const Tensor&);
DECLARE_DISPATCH(forward_fn, softmax_lastdim_kernel) //! declares softmax_lastdim_kernel

using forward_fn_with_dim = void (*)(const Tensor&, const Tensor&, const int64_t);
DECLARE_DISPATCH(forward_fn_with_dim, softmax_kernel) //! declares softmax_kernel

}
}
