#include <ATen/functorch/BatchRulesHelper.h>

namespace at::functorch {

static void unsupportedData(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  TORCH_CHECK(false, "mutating directly with `.data` under vmap transform is not allowed.");
}

TORCH_LIBRARY_IMPL(aten, FuncTorchBatchedDecomposition, m) {
  OP_DECOMPOSE2(multiply, Tensor) //! hop multiply.Tensor batch_rule
  OP_DECOMPOSE(dropout); //! hop dropout batch_rule
  m.impl("set_data", torch::CppFunction::makeFromBoxedFunction<&unsupportedData>());
}

} // namespace at::functorch
