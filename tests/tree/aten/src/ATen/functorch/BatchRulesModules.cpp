#include <ATen/functorch/BatchRulesHelper.h>

namespace at::functorch {

static std::tuple<Tensor, std::optional<int64_t>> embedding_batch_rule(
    const Tensor& weight, std::optional<int64_t> weight_bdim,
    const Tensor& indices, std::optional<int64_t> indices_bdim,
    c10::SymInt padding_idx, bool scale_grad_by_freq, bool sparse) {
  return std::make_tuple(at::embedding_symint(weight, indices, std::move(padding_idx)), 0);
}

TORCH_LIBRARY_IMPL(aten, FuncTorchBatched, m) {
  VMAP_SUPPORT(embedding, embedding_batch_rule); //! hop embedding batch_rule
  // VMAP_SUPPORT(cumsum, nobody);
  UNARY_POINTWISE(sin); //! hop sin batch_rule
  m.impl("detach", native::detach); //! hop detach batch_rule
  VMAP_SUPPORT(abs, BASIC_UNARY_BATCH_RULE(ATEN_FN(abs))); //! hop abs batch_rule
}

#define RULE_NAME(fn, text) static const char fn##_rule_name[] = #text;

#define NAMED_RULE(fn, text) \
  RULE_NAME(fn, text) \
  TORCH_LIBRARY_IMPL(aten, FuncTorchBatched, m) { \
    VMAP_SUPPORT(fn, BASIC_UNARY_BATCH_RULE(ATEN_FN(fn))); \
  }

NAMED_RULE(relu, relu) //! hop relu batch_rule

} // namespace at::functorch
