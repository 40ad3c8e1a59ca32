#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/transformers/attention.h>

#ifdef USE_FLASH_ATTENTION
// FlashAttention Specific Imports
#include <ATen/native/transformers/cuda/flash_attn/flash_api.h>
#endif

namespace at::native {

namespace {

int64_t _fused_sdp_choice_cuda_helper(const Tensor& q) {
  return 0;
}

} // namespace

int64_t _fused_sdp_choice_cuda(const Tensor& query_, const Tensor& key, const Tensor& value, //! kernel _fused_sdp_choice CUDA,NestedTensorCUDA; implements _fused_sdp_choice_stub CUDA
        const std::optional<Tensor>& attn_mask_, double dropout_p, bool is_causal, std::optional<double> scale){
  return _fused_sdp_choice_cuda_helper(query_);
}

// The guard is inside the body: one definition.
std::tuple<Tensor, Tensor> _scaled_dot_product_flash_attention_cuda( //! kernel _scaled_dot_product_flash_attention CUDA
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale) {
#if defined(USE_FLASH_ATTENTION)
  auto [output, logsumexp] = pytorch_flash::mha_fwd(query, key, value, scale);
  return std::make_tuple(output, logsumexp);
#endif
  TORCH_CHECK(false, "USE_FLASH_ATTENTION was not enabled for build.");
  return std::make_tuple(Tensor(), Tensor());
}

#ifdef USE_FLASH_ATTENTION
REGISTER_CUDA_DISPATCH(_fused_sdp_choice_stub, &_fused_sdp_choice_cuda) //! registers _fused_sdp_choice_stub CUDA _fused_sdp_choice_cuda
#endif

} // namespace at::native
