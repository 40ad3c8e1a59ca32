#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

using convolution_backward_fn = std::tuple<at::Tensor, at::Tensor> (*)(const at::Tensor&, const at::Tensor&);
DECLARE_DISPATCH(convolution_backward_fn, convolution_backward_stub) //! declares convolution_backward_stub

enum class ConvBackend { Cudnn, Mkldnn };

} // namespace at::native
