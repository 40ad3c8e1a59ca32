#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/RNN.h>

namespace at::native {

namespace {

template <typename cell_params>
struct GRUCell {
  Tensor operator()(const Tensor& input, const Tensor& hidden, const cell_params& params) const {
    return at::add(input, hidden);
  }
};

template <typename cell_params>
struct LSTMCell {};

std::tuple<Tensor, Tensor> rnn_impl_with_concat(const Tensor& input, const Tensor& hidden) {
  return std::make_tuple(input, hidden);
}

} // namespace

// Definitions, stubs and registrations by one macro, two overloads of one name each.
#define ONE_HIDDEN_RNN(NAME, CELL)                                             \
  DEFINE_DISPATCH(NAME##_cudnn_stub);                                          \
  DEFINE_DISPATCH(NAME##_packed_cudnn_stub);                                   \
  REGISTER_NO_CPU_DISPATCH(NAME##_cudnn_stub)                                  \
  REGISTER_NO_CPU_DISPATCH(NAME##_packed_cudnn_stub)                           \
                                                                               \
  std::tuple<Tensor, Tensor> NAME(                                             \
      const Tensor& _input,                                                    \
      const Tensor& hx,                                                        \
      TensorList _params,                                                      \
      bool has_biases,                                                         \
      int64_t num_layers,                                                      \
      double dropout_p,                                                        \
      bool train,                                                              \
      bool bidirectional,                                                      \
      bool batch_first) {                                                      \
    if (at::cudnn_is_acceptable(_input)) {                                     \
      Tensor output, hy;                                                       \
      NAME##_cudnn_stub(                                                       \
          _input.device().type(), output, hy, _input, hx, _params, has_biases); \
      return std::make_tuple(std::move(output), std::move(hy));                \
    }                                                                          \
    return rnn_impl_with_concat(_input, hx);                                   \
  }                                                                            \
                                                                               \
  std::tuple<Tensor, Tensor> NAME(                                             \
      const Tensor& data,                                                      \
      const Tensor& batch_sizes,                                               \
      const Tensor& hx,                                                        \
      TensorList _params,                                                      \
      bool has_biases,                                                         \
      int64_t num_layers,                                                      \
      double dropout_p,                                                        \
      bool train,                                                              \
      bool bidirectional) {                                                    \
    return rnn_impl_with_concat(data, hx);                                     \
  }
using tanf_cell_type = GRUCell<CellParams>;
ONE_HIDDEN_RNN(gru, GRUCell<CellParams>) //! kernel gru.input,gru.data CompositeImplicitAutograd by ONE_HIDDEN_RNN; defines gru_cudnn_stub; defines gru_packed_cudnn_stub; registers gru_cudnn_stub CPU nullptr; registers gru_packed_cudnn_stub CPU nullptr
ONE_HIDDEN_RNN(rnn_tanh, tanf_cell_type) //! kernel rnn_tanh.input CompositeImplicitAutograd by ONE_HIDDEN_RNN; defines rnn_tanh_cudnn_stub; defines rnn_tanh_packed_cudnn_stub; registers rnn_tanh_cudnn_stub CPU nullptr; registers rnn_tanh_packed_cudnn_stub CPU nullptr

// The types of the parameters come through a macro's argument and an alias.
#define DEFINE_QUANTIZED_RNN_CELL(name, hx_type, cell_type, return_type, prepare_hx_fn) \
return_type name( \
    const Tensor& input, \
    hx_type hx, \
    const Tensor& w_ih, \
    const Tensor& w_hh) { \
  return cell_type{}( \
      input, prepare_hx_fn(hx), w_ih); \
}
#define DEFINE_QUANTIZED_RNN_CELL_DYNAMIC(name, hx_type, cell_type, return_type, prepare_hx_fn) \
return_type name( \
    const Tensor& input, \
    hx_type hx, \
    c10::intrusive_ptr<LinearPackedParamsBase> _packed_w_ih \
 ) { \
  return cell_type{}( \
      input, prepare_hx_fn(hx), _packed_w_ih); \
}

using quantized_lstm_return_type = std::tuple<Tensor, Tensor>;
static std::tuple<Tensor, Tensor> prepare_quantized_lstm_hx(TensorList hx) {
  return std::make_tuple(hx[0], hx[1]);
}

DEFINE_QUANTIZED_RNN_CELL(quantized_lstm_cell, TensorList, LSTMCell<QuantizedCellParams>, quantized_lstm_return_type, prepare_quantized_lstm_hx) //! kernel quantized_lstm_cell CompositeImplicitAutograd by DEFINE_QUANTIZED_RNN_CELL

// Helpers for simpler cells
using simple_hx_type = const Tensor&;
static simple_hx_type prepare_quantized_hx(simple_hx_type hx) {
  return hx;
}

// Quantized GRU cell
using quantized_gru_cell_type = GRUCell<QuantizedCellParams>;
using quantized_gru_cell_dynamic_type = GRUCell<QuantizedCellParamsDynamic>;

DEFINE_QUANTIZED_RNN_CELL(quantized_gru_cell, simple_hx_type, quantized_gru_cell_type, Tensor, prepare_quantized_hx) //! kernel quantized_gru_cell CompositeImplicitAutograd by DEFINE_QUANTIZED_RNN_CELL

static DEFINE_QUANTIZED_RNN_CELL_DYNAMIC(quantized_gru_cell_dynamic, simple_hx_type, quantized_gru_cell_dynamic_type, Tensor, prepare_quantized_hx) //! runs quantized::quantized_gru_cell_dynamic CPU

namespace {

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def( //! operator quantized_lstm.input
      TORCH_SELECTIVE_SCHEMA("aten::quantized_lstm.input(Tensor input, Tensor[] hx) -> (Tensor, Tensor)"));
}

TORCH_LIBRARY_FRAGMENT(quantized, m) { //! library quantized
  m.def(TORCH_SELECTIVE_SCHEMA("quantized::make_quantized_cell_params_dynamic(Tensor bias_ih) -> Tensor")); //! operator quantized::make_quantized_cell_params_dynamic
  m.def(TORCH_SELECTIVE_SCHEMA("quantized::quantized_gru_cell_dynamic(Tensor input, Tensor hx) -> Tensor")); //! operator quantized::quantized_gru_cell_dynamic
}

TORCH_LIBRARY_IMPL(quantized, CPU, m) {
  m.impl(TORCH_SELECTIVE_NAME("quantized::quantized_gru_cell_dynamic"), TORCH_FN(quantized_gru_cell_dynamic));
}

} // namespace
} // namespace at::native
