#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/transformers/attention.h>

namespace at::native {

DEFINE_DISPATCH(_fused_sdp_choice_stub); //! defines _fused_sdp_choice_stub

int64_t _fused_sdp_choice_cpp(const Tensor& query_, const Tensor& key, const Tensor& value, //! kernel _fused_sdp_choice CPU,NestedTensorCPU; implements _fused_sdp_choice_stub CPU
        const std::optional<Tensor>& attn_mask_, double dropout_p, bool is_causal, std::optional<double> scale){
  sdp::sdp_params kernel_params{query_, key, value, attn_mask_, dropout_p, is_causal};
  auto backend = sdp::select_sdp_backend_cpp(kernel_params);
  return static_cast<int64_t>(backend);
}

// Compiled once, outside of cpu/: a line for each architecture.
REGISTER_ARCH_DISPATCH(_fused_sdp_choice_stub, DEFAULT, &_fused_sdp_choice_cpp) //! registers _fused_sdp_choice_stub CPU _fused_sdp_choice_cpp
REGISTER_AVX2_DISPATCH(_fused_sdp_choice_stub, &_fused_sdp_choice_cpp) //! registers _fused_sdp_choice_stub CPU _fused_sdp_choice_cpp
REGISTER_AVX512_DISPATCH(_fused_sdp_choice_stub, &_fused_sdp_choice_cpp) //! registers _fused_sdp_choice_stub CPU _fused_sdp_choice_cpp

int64_t _fused_sdp_choice_meta( //! kernel _fused_sdp_choice Meta
    const Tensor& query_,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& attn_mask_,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale) {
  return static_cast<int64_t>(sdp::SDPBackend::math);
}

Tensor scaled_dot_product_attention( //! kernel scaled_dot_product_attention CompositeImplicitAutograd
    const Tensor& query_,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& attn_mask_,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale) {
  int64_t choice_int = static_cast<int64_t>(sdp::SDPBackend::math);
  if (_fused_sdp_choice_stub.is_device_supported(query_.device().type())) {
    choice_int = _fused_sdp_choice_stub(query_.device().type(), query_, key, value, attn_mask_, dropout_p, is_causal, scale);
  }
  // the choice of the algorithm
  switch (static_cast<sdp::SDPBackend>(choice_int)) {
    case sdp::SDPBackend::flash_attention: {
      auto out_and_lse = at::_scaled_dot_product_flash_attention(query_, key, value, dropout_p, is_causal, scale); //! hop scaled_dot_product_attention
      return std::get<0>(out_and_lse);
    }
    case sdp::SDPBackend::math:
      return std::get<0>(at::_scaled_dot_product_attention_math(query_, key, value, attn_mask_, dropout_p, is_causal, scale)); //! hop scaled_dot_product_attention
    default:
      TORCH_CHECK(false, "No viable backend for scaled_dot_product_attention was found.");
      return Tensor();
  }
}

std::tuple<Tensor, Tensor> _scaled_dot_product_attention_math( //! kernel _scaled_dot_product_attention_math CompositeImplicitAutograd
        const Tensor& query_, const Tensor& key, const Tensor& value,
        const std::optional<Tensor>& attn_mask_, double dropout_p, bool is_causal,
        std::optional<double> scale) {
  auto attn = at::matmul(query_, key.transpose(-2, -1));
  attn = at::softmax(attn, -1);
  return std::make_tuple(at::matmul(attn, value), attn);
}

} // namespace at::native
