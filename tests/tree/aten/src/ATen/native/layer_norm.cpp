#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/layer_norm.h>

namespace at::native {

static void layer_norm_with_mean_rstd_out( //! hop native_layer_norm function
    at::Tensor& out,
    const at::Tensor& input,
    double eps,
    int64_t M,
    int64_t N) {
  LayerNormKernel(kCPU, input, input, eps, &out);
  out = out.view({M, N});
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_cpu( //! kernel native_layer_norm CPU
    const Tensor& input,
    IntArrayRef normalized_shape, const std::optional<Tensor>& weight_opt /* optional */, const std::optional<Tensor>& bias_opt /* optional */,
    double eps) {
  // See [Note: hacky wrapper removal for optional tensor]
  auto M_N = _check_layer_norm_inputs(input, normalized_shape);
  Tensor Y = at::empty_like(input);
  layer_norm_with_mean_rstd_out(Y, input, eps, M_N.first, M_N.second);
  return std::make_tuple(Y, Y, Y);
}

Tensor layer_norm_symint( //! kernel layer_norm CompositeImplicitAutograd
    const Tensor& input,
    c10::SymIntArrayRef normalized_shape, const std::optional<Tensor>& weight_opt /* optional */, const std::optional<Tensor>& bias_opt /* optional */,
    double eps,
    bool /* cudnn_enable, deprecated */) {
  return std::get<0>(at::native_layer_norm_symint(input, normalized_shape, weight_opt, bias_opt, eps));
}

DEFINE_DISPATCH(LayerNormKernel); //! defines LayerNormKernel

std::tuple<Tensor, Tensor, Tensor> math_native_layer_norm( //! kernel native_layer_norm CompositeExplicitAutograd
    const Tensor& input,
    IntArrayRef normalized_shape, const std::optional<Tensor>& weight_opt, const std::optional<Tensor>& bias_opt,
    double eps) {
  auto out = at::native_batch_norm(input, weight_opt, bias_opt, {}, {}, /*training=*/true, /*momentum=*/0, eps);
  return out;
}

} // namespace at::native
