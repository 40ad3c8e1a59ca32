#include <ATen/NestedTensorImpl.h>

namespace at::native {

namespace {

template <typename Func>
Tensor map_nt(const Tensor& nt, Func f) { //! hop sin function
  auto* nt_impl = get_nested_tensor_impl(nt);
  return wrap_buffer(f(nt_impl->get_buffer()), nt_impl->get_nested_sizes());
}

} // namespace

#define DEFINE_TORCH_NESTED_TENSOR_UNARY_OP(op_name) \
  Tensor op_name##_nested(const Tensor& self) {      \
    return map_nt(self, at::op_name);                \
  }

// Use the macro to define operations concisely
DEFINE_TORCH_NESTED_TENSOR_UNARY_OP(sin) //! kernel sin NestedTensorCPU,NestedTensorCUDA by DEFINE_TORCH_NESTED_TENSOR_UNARY_OP

Tensor NestedTensor_relu(const Tensor& self) { //! kernel relu NestedTensorCPU,NestedTensorCUDA
  return map_nt(self, at::relu);
}

Tensor NestedTensor_add_Tensor( //! kernel add.Tensor NestedTensorCPU,NestedTensorCUDA
    const Tensor& self,
    const Tensor& other,
    const Scalar& alpha) {
  return NestedTensor_elementwise_Tensor(
      self, other, "add", true /* supports_striding*/, [alpha](const Tensor& b1, const Tensor& b2) {
        return at::add(b1, b2, alpha);
      });
}

Tensor NestedTensor_mul_Tensor(const Tensor& self, const Tensor& other) { //! kernel mul.Tensor NestedTensorCPU,NestedTensorCUDA
  return self;
}

// Only usable on the C++ side; scalars are converted to tensors coming from Python.
Tensor NestedTensor_mul_Scalar(const Tensor& self, const Scalar& other) { //! kernel mul.Scalar NestedTensorCPU,NestedTensorCUDA
  return NestedTensor_mul_Tensor(self, wrapped_scalar_tensor(other));
}

// Very rudimentary sum_dim for prototyping with torch_scatter.segment_reduce.
Tensor NestedTensor_sum_dim_CPU( //! kernel sum.dim_IntList NestedTensorCPU
    const Tensor& self,
    OptionalIntArrayRef opt_dims,
    bool keepdim,
    std::optional<ScalarType> dtype) {
  return self;
}

Tensor softmax_nested( //! kernel _softmax NestedTensorCPU,NestedTensorCUDA
    const Tensor& input,
    const int64_t dim,
    const bool half_to_float) {
  at::softmax_out(input, input, dim);
  return input;
}

std::tuple<Tensor, Tensor, Tensor> nested_layer_norm( //! kernel native_layer_norm NestedTensorCPU,NestedTensorCUDA
    const Tensor& input,
    IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight_opt,
    const std::optional<Tensor>& bias_opt,
    double eps) {
  return std::make_tuple(input, input, input);
}

std::tuple<Tensor,Tensor> native_dropout_nested(const Tensor& input, double p, std::optional<bool> train) { //! kernel native_dropout NestedTensorCPU,NestedTensorCUDA
  return std::make_tuple(input, input);
}

Tensor NestedTensor_embedding( //! kernel embedding NestedTensorCPU,NestedTensorCUDA
    const Tensor& weight,
    const Tensor& indices,
    int64_t padding_idx,
    bool scale_grad_by_freq,
    bool sparse) {
  return weight;
}

Tensor nested_linear( //! kernel linear NestedTensorCPU,NestedTensorCUDA
    const Tensor& input,
    const Tensor& weight,
    const std::optional<Tensor>& bias_opt) {
  return input;
}

Tensor matmul_nested(const Tensor& self, const Tensor& mat2) { //! kernel matmul NestedTensorCPU,NestedTensorCUDA
  return self;
}

// `view_nested` can be used to change the shape
Tensor view_nested(const Tensor& self, IntArrayRef proposed_shape) { //! kernel view NestedTensorCPU,NestedTensorCUDA
  return self;
}

Tensor narrow_nested_symint(const at::Tensor& self, int64_t dim, SymInt start, SymInt length) { //! kernel narrow NestedTensorCPU,NestedTensorCUDA
  return self;
}

} // namespace at::native
