#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

using convolution_backward_fn = std::tuple<at::Tensor, at::Tensor> (*)(const at::Tensor&, const at::Tensor&);
DECLARE_DISPATCH(convolution_backward_fn, convolution_backward_stub) //! declares convolution_backward_stub

enum class ConvBackend { Cudnn, Mkldnn };

// In a header, and on the way to a library: nothing is launched here, there is no data.
inline bool mkldnn_low_precision_check(ScalarType type) { //! hop mkldnn_convolution call
  return ideep::has_bf16_type_support();
}

} // namespace at::native
