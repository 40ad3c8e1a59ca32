#include <ATen/autocast_mode.h>

namespace at::autocast {

bool is_autocast_enabled(at::DeviceType device_type) {
  return false;
}

namespace {

TORCH_LIBRARY_IMPL(_, Autocast, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, Autocast, m) {
  // lower_precision_fp
#define _KERNEL_CUDA_LOW_PRECISION_FP(...) \
  KERNEL_CUDA(__VA_ARGS__, lower_precision_fp)

  AT_FORALL_LOWER_PRECISION_FP(_KERNEL_CUDA_LOW_PRECISION_FP)

  // fp32
#define _KERNEL_CUDA_FP32(...) KERNEL_CUDA(__VA_ARGS__, fp32)

  AT_FORALL_FP32(_KERNEL_CUDA_FP32)

  // fp32_set_opt_dtype
#define _KERNEL_CUDA_FP32_SET_OPT_DTYPE(...) \
  KERNEL_CUDA(__VA_ARGS__, fp32_set_opt_dtype)

  AT_FORALL_FP32_SET_OPT_DTYPE(_KERNEL_CUDA_FP32_SET_OPT_DTYPE)

#define _KERNEL_CUDA_PROMOTE(...) KERNEL_CUDA(__VA_ARGS__, promote)

  AT_FORALL_PROMOTE(_KERNEL_CUDA_PROMOTE)
}

TORCH_LIBRARY_IMPL(_, AutocastCPU, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastCPU, m) {
  // lower_precision_fp cast policy
  KERNEL_CPU(mm, lower_precision_fp) //! hop mm autocast
  KERNEL_CPU(addmm, lower_precision_fp) //! hop addmm autocast
  KERNEL_CPU(linear, lower_precision_fp) //! hop linear autocast

  // promote
  KERNEL_CPU(index_select, promote) //! hop index_select autocast
}

TORCH_LIBRARY_IMPL(aten, AutocastMPS, m) {
  KERNEL_MPS(sum, dim_IntList, fp32) //! hop sum.dim_IntList autocast
}

} // namespace
} // namespace at::autocast
