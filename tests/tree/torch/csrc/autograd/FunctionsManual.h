#pragma once

// Declarations only: the definitions are in FunctionsManual.cpp.

namespace torch::autograd::generated::details {

at::Tensor handle_r_to_c(ScalarType self_st, Tensor gradient_result);
at::Tensor maybe_multiply(const at::Tensor& t, const at::Scalar& s);
at::Tensor sum_backward(const at::Tensor& grad, c10::SymIntArrayRef sizes, c10::IntArrayRef dims, bool keepdim);
at::Tensor sum_backward(const at::Tensor& grad, at::OptionalIntArrayRef opt_dims, bool keepdim);

} // namespace torch::autograd::generated::details
