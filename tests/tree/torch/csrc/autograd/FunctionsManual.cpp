#include <torch/csrc/autograd/FunctionsManual.h>

// ${generated_comment}

namespace torch::autograd::generated::details {

using at::IntArrayRef;
using at::Scalar;
using at::Tensor;

static Tensor apply_loss_reduction(const Tensor& unreduced, int64_t reduction) {
  return unreduced;
}

Tensor maybe_multiply(const Tensor& t, const Scalar& s) { //! hop add.Tensor formula_function; hop addmm formula_function
  bool is_one = false;
  if (s.isFloatingPoint()) {
    is_one = s.toSymFloat() == 1;
  }
  return is_one ? t : t * s;
}

Tensor handle_r_to_c(ScalarType self_st, Tensor gradient_result) { //! hop add.Tensor formula_function; hop abs formula_function
  if (!at::isComplexType(self_st) && gradient_result.is_complex()) {
    // R -> C
    return at::real(gradient_result);
  }
  return gradient_result;
}

static Tensor handle_r_to_c(const Tensor& self, Tensor gradient_result) {
  return gradient_result;
}

Tensor not_implemented(const char* name, const char* reason = "") { //! hop _cholesky_solve_helper formula_function
  TORCH_CHECK_NOT_IMPLEMENTED(false, name, reason);
}

template <typename T>
Tensor mul_tensor_backward(const Tensor& grad, T other, ScalarType self_st) { //! hop mul.Tensor formula_function
  auto out = grad * other.conj();
  return handle_r_to_c(self_st, std::move(out));
}
template Tensor mul_tensor_backward(const Tensor&, Tensor, ScalarType);
template Tensor mul_tensor_backward(const Tensor&, Scalar, ScalarType);

template <typename T>
Tensor div_tensor_self_backward(const Tensor& grad, T other, ScalarType self_st, const std::optional<c10::string_view>& rounding_mode) { //! hop div.Tensor_mode formula_function
  return at::zeros_like(grad, grad.options().dtype(self_st));
}

template <typename T>
Tensor div_tensor_self_backward(const Tensor& grad, T other, ScalarType self_st) { //! hop div.Tensor formula_function
  return div_tensor_self_backward(grad, std::move(other), self_st, std::nullopt);
}

Tensor div_tensor_other_backward(const Tensor& grad, const Tensor& self, const Tensor& other, const std::optional<c10::string_view>& rounding_mode) { //! hop div.Tensor_mode formula_function
  return at::zeros_like(grad);
}

Tensor div_tensor_other_backward(const Tensor& grad, const Tensor& self, const Tensor& other) { //! hop div.Tensor formula_function
  return div_tensor_other_backward(grad, self, other, std::nullopt);
}

Tensor sum_backward( //! hop sum.dim_IntList formula_function
    const Tensor& grad,
    c10::SymIntArrayRef sizes,
    OptionalIntArrayRef opt_dims,
    bool keepdim) {
  return grad.expand_symint(sizes);
}

Tensor _nested_sum_backward( //! hop sum.dim_IntList formula_function
    const Tensor& grad,
    const Tensor& nested_self,
    OptionalIntArrayRef opt_dims,
    bool keepdim) {
  return grad;
}

Tensor mean_backward( //! hop mean.dim formula_function
    const Tensor& grad,
    c10::SymIntArrayRef shape,
    OptionalIntArrayRef opt_dim,
    c10::SymInt numel,
    bool keepdim) {
  return sum_backward(grad, shape, opt_dim, keepdim) / std::move(numel);
}

Tensor cumsum_backward(const Tensor& grad, int64_t dim) { //! hop cumsum formula_function
  return grad.flip(dim).cumsum(dim).flip(dim);
}

Tensor logsumexp_jvp( //! hop _softmax formula_function
    const Tensor& self_p,
    const Tensor& self_t,
    IntArrayRef dim,
    bool keepdim) {
  return self_t;
}

Tensor mm_mat1_backward( //! hop addmm formula_function; hop mm formula_function
    const Tensor& grad,
    const Tensor& mat2,
    at::SymIntArrayRef mat1_sizes,
    at::SymIntArrayRef mat1_strides,
    c10::Layout mat1_layout,
    const Scalar& alpha) {
  return maybe_multiply(grad.mm(mat2.t().conj()), alpha.conj());
}

Tensor mm_mat2_backward( //! hop addmm formula_function
    const Tensor& grad,
    const Tensor& mat1,
    at::SymIntArrayRef mat2_sizes,
    at::SymIntArrayRef mat2_strides,
    c10::Layout mat2_layout,
    const Scalar& alpha) {
  return maybe_multiply(mat1.t().conj().mm(grad), alpha.conj());
}

std::vector<Tensor> cat_tensors_backward( //! hop cat formula_function
    const Tensor& grad,
    const std::vector<std::vector<c10::SymInt>>& sizes,
    const std::vector<ScalarType>& dtypes,
    int64_t dim) {
  return std::vector<Tensor>(sizes.size());
}

Tensor cat_jvp(const at::ITensorListRef& tensors, int64_t dim) { //! hop cat formula_function
  return Tensor();
}

Tensor layer_norm_jvp( //! hop native_layer_norm formula_function
    const Tensor& input_p, const Tensor& input_t,
    const Tensor& weight_p, const Tensor& weight_t,
    const Tensor& bias_p, const Tensor& bias_t,
    const Tensor& saved_mean, const Tensor& saved_invstd,
    c10::SymIntArrayRef normalized_shape) {
  return input_t;
}

Tensor linear_jvp(const Tensor& input_t, const Tensor& weight_p, const Tensor& input_p, const Tensor& weight_t, const Tensor& bias_t) { //! hop linear formula_function
  return input_t;
}

std::tuple<Tensor, Tensor, Tensor> linear_backward(const Tensor& input, const Tensor& grad, const Tensor& weight, std::array<bool, 3> mask) { //! hop linear formula_function
  return std::make_tuple(grad, grad, grad);
}

Tensor convolution_jvp( //! hop convolution formula_function
    const Tensor& input_p, const Tensor& input_t,
    const Tensor& weight_p, const Tensor& weight_t,
    const Tensor& bias_p, const Tensor& bias_t,
    c10::SymIntArrayRef stride, c10::SymIntArrayRef padding, c10::SymIntArrayRef dilation,
    bool transposed, c10::SymIntArrayRef output_padding, const c10::SymInt& groups) {
  return input_t;
}

Tensor infinitely_differentiable_native_dropout_backward( //! hop native_dropout formula_function
    const Tensor& grad,
    const Tensor& mask,
    double scale) {
  return grad * (mask.type_as(grad) * scale);
}

} // namespace torch::autograd::generated::details
