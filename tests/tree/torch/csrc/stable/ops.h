#pragma once

#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/macros/Macros.h>

// In namespaces that macros open, and with a twin for versions before 2.10.
HIDDEN_NAMESPACE_BEGIN(torch, stable)

inline torch::stable::Tensor relu(const torch::stable::Tensor& self) {
  std::array<StableIValue, 1> stack{torch::stable::detail::from(self)};
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_10_0
  STABLE_TORCH_ERROR_CODE_CHECK(torch_call_dispatcher(
      "aten::relu", "", stack.data(), TORCH_ABI_VERSION));
#else
  STABLE_TORCH_ERROR_CODE_CHECK(
      aoti_torch_call_dispatcher("aten::relu", "", stack.data()));
#endif
  return torch::stable::detail::to<torch::stable::Tensor>(stack[0]);
}

HIDDEN_NAMESPACE_END(torch, stable)

// Outside of them again.
inline bool is_stable_abi() {
  return true;
}
