#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

using unary_fn = void (*)(TensorIteratorBase&);

inline namespace CPU_CAPABILITY {
void abs_kernel(TensorIteratorBase& iter);
void logical_not_kernel(TensorIteratorBase& iter);
} // namespace CPU_CAPABILITY

DECLARE_DISPATCH(unary_fn, abs_stub) //! declares abs_stub
DECLARE_DISPATCH(unary_fn, sin_stub) //! declares sin_stub
DECLARE_DISPATCH(unary_fn, ceil_stub) //! declares ceil_stub
DECLARE_DISPATCH(unary_fn, sigmoid_stub) //! declares sigmoid_stub
DECLARE_DISPATCH(unary_fn, logical_not_stub) //! declares logical_not_stub
DECLARE_DISPATCH( //! declares bernoulli_scalar_stub
    void (*)(Tensor&, const double, std::optional<Generator>),
    bernoulli_scalar_stub)
DECLARE_DISPATCH( //! declares exponential_stub
    void (*)(TensorIteratorBase&, const double, std::optional<Generator>),
    exponential_stub)
// NB: codegenned elsewhere in the real tree; nobody calls it here.
DECLARE_DISPATCH(void (*)(TensorIteratorBase&, const int64_t), unused_stub) //! declares unused_stub

} // namespace at::native
