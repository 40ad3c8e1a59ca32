#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

using rnn_fn = void (*)(Tensor&, Tensor&, const Tensor&, const Tensor&, TensorList, bool);
using rnn_packed_fn = void (*)(Tensor&, Tensor&, const Tensor&, const Tensor&, const Tensor&, TensorList);

DECLARE_DISPATCH(rnn_fn, gru_cudnn_stub) //! declares gru_cudnn_stub
DECLARE_DISPATCH(rnn_fn, rnn_tanh_cudnn_stub) //! declares rnn_tanh_cudnn_stub
DECLARE_DISPATCH(rnn_packed_fn, gru_packed_cudnn_stub) //! declares gru_packed_cudnn_stub
DECLARE_DISPATCH(rnn_packed_fn, rnn_tanh_packed_cudnn_stub) //! declares rnn_tanh_packed_cudnn_stub

} // namespace at::native
