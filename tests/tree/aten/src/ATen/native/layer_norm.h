#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

namespace {

C10_ALWAYS_INLINE std::pair<int64_t, int64_t> _check_layer_norm_inputs(const Tensor& input, IntArrayRef normalized_shape) {
  return std::make_pair(c10::multiply_integers(input.sizes()), 1);
}

} // namespace

void layer_norm_cpu_out(at::Tensor& out, const at::Tensor& input, double eps, int64_t M, int64_t N);

using forward_fn = void (*)(
    const Tensor& /* X */,
    const Tensor& /* gamma */,
    double /* eps */,
    Tensor* /* Y */);

DECLARE_DISPATCH(forward_fn, LayerNormKernel) //! declares LayerNormKernel

} // namespace at::native
