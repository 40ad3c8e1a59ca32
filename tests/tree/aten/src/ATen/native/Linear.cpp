#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>

namespace at::native {

static inline Tensor _flatten_nd_linear(const Tensor& input, const Tensor& weight, const Tensor& bias) { //! hop linear function
  const auto inp_reshape = input.reshape_symint({-1, input.sym_size(-1)});
  return at::addmm(bias, inp_reshape, weight.t());
}

Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias_opt) { //! kernel linear CompositeImplicitAutograd
  // See [Note: hacky wrapper removal for optional tensor]
  auto bias = bias_opt.has_value()
      ? c10::MaybeOwned<Tensor>::borrowed(*bias_opt)
      : c10::MaybeOwned<Tensor>::owned(std::in_place);
  if (input.is_mkldnn()) {
    return at::mkldnn_linear(input, weight, *bias);
  }
  if (input.dim() == 2 && bias->defined()) {
    // Fused op is marginally faster.
    return at::addmm(*bias, input, weight.t()); //! hop linear
  }
  if (bias->defined()) {
    return _flatten_nd_linear(input, weight, *bias);
  }
  return at::matmul(input, weight.t()); //! hop linear
}

Tensor& linear_out(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias_opt, Tensor& output) { //! kernel linear.out CompositeExplicitAutograd
  output = at::matmul_out(output, input, weight.t());
  return output;
}

} // namespace at::native
