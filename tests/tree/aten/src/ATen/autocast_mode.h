#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

namespace at::autocast {

enum class CastPolicy : uint8_t {
  lower_precision_fp = 0, // Cast all inputs to lower_precision_fp before running the op.
  fp32,
  fp32_set_opt_dtype,
  promote,
};

template <CastPolicy policy, c10::DeviceType device_type, class Redispatch, Redispatch* F>
struct WrapFunction {};

#define ADD_NS(RAW_OP) at::RAW_OP

#define _KERNEL_OVERLOAD_NARG_IMPL(_0, _1, _2, N, ...) N
#define _KERNEL_OVERLOAD_NARG(...) \
  C10_EXPAND_MSVC_WORKAROUND(_KERNEL_OVERLOAD_NARG_IMPL(__VA_ARGS__, 2, 1))

#define KERNEL1(DISPATCHKEY, OP, POLICY)      \
  m.impl(                                     \
      TORCH_SELECTIVE_NAME("aten::" #OP),     \
      &::at::autocast::WrapFunction<          \
          ::at::autocast::CastPolicy::POLICY, \
          DISPATCHKEY,                        \
          decltype(ATEN_FN(OP)),              \
          &ATEN_FN(OP)>::type::call);

#define KERNEL2(DISPATCHKEY, OP, OVERLOAD, POLICY)      \
  m.impl(                                               \
      TORCH_SELECTIVE_NAME("aten::" #OP "." #OVERLOAD), \
      &::at::autocast::WrapFunction<                    \
          ::at::autocast::CastPolicy::POLICY,           \
          DISPATCHKEY,                                  \
          decltype(ATEN_FN2(OP, OVERLOAD)),             \
          &ATEN_FN2(OP, OVERLOAD)>::type::call);

#define _KERNEL_DISPATCH(DISPATCHKEY, NARG, ...) \
  C10_CONCATENATE(KERNEL, NARG)(DISPATCHKEY, __VA_ARGS__)

#define _KERNEL_IMPL(DISPATCHKEY, ...) \
  _KERNEL_DISPATCH(DISPATCHKEY, _KERNEL_OVERLOAD_NARG(__VA_ARGS__), __VA_ARGS__)

// It will dispatch to KERNEL1 or KERNEL2 based on its inputs.
#define KERNEL(DISPATCHKEY, ...) _KERNEL_IMPL(DISPATCHKEY, __VA_ARGS__)

#define KERNEL_CPU(...) KERNEL(c10::DeviceType::CPU, __VA_ARGS__)
#define KERNEL_CUDA(...) KERNEL(c10::DeviceType::CUDA, __VA_ARGS__)
#define KERNEL_MPS(...) KERNEL(c10::DeviceType::MPS, __VA_ARGS__)

// Op lists for different policies.
#define AT_FORALL_LOWER_PRECISION_FP(_) \
  _(convolution)                        \
  _(addmm)                              \
  _(matmul)                             \
  _(mm)                                 \
  _(linear)

#define AT_FORALL_FP32(_) \
  _(layer_norm)           \
  _(native_layer_norm)    \
  _(nll_loss)

#define AT_FORALL_FP32_SET_OPT_DTYPE(_) \
  _(softmax, int)                       \
  _(cumsum)                             \
  _(sum, dim_IntList)

#define AT_FORALL_PROMOTE(_) \
  _(cat)

} // namespace at::autocast
