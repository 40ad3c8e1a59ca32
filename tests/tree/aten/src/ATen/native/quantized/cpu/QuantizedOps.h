#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

using qrelu_fn = void (*)(const at::Tensor& /*qx*/, at::Tensor& /*qy*/);
using qbinary_fn = void (*)(Tensor& /*out*/, const Tensor& /*self*/, const Tensor& /*other*/);

DECLARE_DISPATCH(qrelu_fn, qrelu_stub) //! declares qrelu_stub
DECLARE_DISPATCH(qbinary_fn, qadd_relu_stub) //! declares qadd_relu_stub
DECLARE_DISPATCH(qbinary_fn, qadd_stub) //! declares qadd_stub
DECLARE_DISPATCH(qrelu_fn, qdropout_stub) //! declares qdropout_stub

} // namespace at::native
