#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/RNN.h>

#if AT_CUDNN_ENABLED()

namespace at {
namespace native {
namespace {

template <typename hidden_type>
std::pair<Tensor, hidden_type> _cudnn_impl(const Tensor& input, const Tensor& _batch_sizes, const hidden_type& hidden, cudnnRNNMode_t mode) {
  AT_CUDNN_CHECK(cudnnRNNForward(getCudnnHandle()));
  return {input, hidden};
}

// The same name as the macro of aten/src/ATen/native/RNN.cpp, with another body.
#define ONE_HIDDEN_RNN(NAME, MODE)                                        \
  void NAME##_cudnn(                                                      \
      Tensor& output, Tensor& hy, const Tensor& input, const Tensor& hx, TensorList params, bool has_biases) { \
    std::tie(output, hy) = _cudnn_impl(input, input, hx, MODE);           \
  }                                                                       \
                                                                          \
  void NAME##_packed_cudnn(                                               \
      Tensor& output, Tensor& hy, const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params) { \
    std::tie(output, hy) = _cudnn_impl(data, batch_sizes, hx, MODE);      \
  }                                                                       \
                                                                          \
  REGISTER_CUDA_DISPATCH(NAME##_cudnn_stub, &NAME##_cudnn)                \
  REGISTER_CUDA_DISPATCH(NAME##_packed_cudnn_stub, &NAME##_packed_cudnn)

ONE_HIDDEN_RNN(gru, CUDNN_GRU) //! registers gru_cudnn_stub CUDA gru_cudnn; implements gru_cudnn_stub CUDA; registers gru_packed_cudnn_stub CUDA gru_packed_cudnn; implements gru_packed_cudnn_stub CUDA
ONE_HIDDEN_RNN(rnn_tanh, CUDNN_RNN_TANH) //! registers rnn_tanh_cudnn_stub CUDA rnn_tanh_cudnn; implements rnn_tanh_cudnn_stub CUDA; registers rnn_tanh_packed_cudnn_stub CUDA rnn_tanh_packed_cudnn; implements rnn_tanh_packed_cudnn_stub CUDA

} // namespace
} // namespace native
} // namespace at

#endif
