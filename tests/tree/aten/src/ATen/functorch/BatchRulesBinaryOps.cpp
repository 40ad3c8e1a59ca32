#include <ATen/functorch/BatchRulesHelper.h>

namespace at::functorch {

template <typename F, F Func, typename... ExtraArgs>
std::tuple<Tensor, std::optional<int64_t>> _binary_pointwise_batch_rule(
    const Tensor& tensor, std::optional<int64_t> tensor_batch_dim,
    const Tensor& other, std::optional<int64_t> other_batch_dim,
    ExtraArgs... extra_args) {
  return std::make_tuple(Func(tensor, other, std::forward<ExtraArgs>(extra_args)...), 0);
}

#define BINARY_POINTWISE_BATCH_RULE(fn) SINGLE_ARG(\
    BinaryPointwiseBatchRuleHelper<\
      decltype(&fn),\
      &fn,\
      c10::guts::function_traits<decltype(fn)>::parameter_types>::apply)

TORCH_LIBRARY_IMPL(aten, FuncTorchBatched, m) {
#define BINARY_POINTWISE2(op, overload) \
  VMAP_SUPPORT2(op, overload, BINARY_POINTWISE_BATCH_RULE(ATEN_FN2(op, overload)));

  BINARY_POINTWISE2(add, Tensor); //! hop add.Tensor batch_rule
  BINARY_POINTWISE2(mul, Tensor); //! hop mul.Tensor batch_rule
#undef BINARY_POINTWISE2
}

} // namespace at::functorch
