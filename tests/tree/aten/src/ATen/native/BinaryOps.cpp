#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/BinaryOps.h>

#include <type_traits>
#include <utility>

#ifndef AT_PER_OPERATOR_HEADERS
#include <ATen/Functions.h>
#include <ATen/NativeFunctions.h>
#else
#include <ATen/ops/add_native.h>
#include <ATen/ops/mul_native.h>
#endif

namespace at::meta {

TORCH_META_FUNC2(add, Tensor) ( //! meta add.out
  const Tensor& self, const Tensor& other, const Scalar& alpha
) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
  native::alpha_check(dtype(), alpha);
}

TORCH_META_FUNC2(sub, Tensor) ( //! meta sub.out
  const Tensor& self, const Tensor& other, const Scalar& alpha
) {
  native::sub_check(self, other);
  build_borrowing_binary_op(maybe_get_output(), self, other);
  native::alpha_check(dtype(), alpha);
}

TORCH_META_FUNC2(mul, Tensor) ( //! meta mul.out
  const Tensor& self, const Tensor& other
) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

TORCH_META_FUNC2(div, Tensor) (const Tensor& self, const Tensor& other) { //! meta div.out
  build_borrowing_binary_float_op(maybe_get_output(), self, other);
}

TORCH_META_FUNC2(div, Tensor_mode) (const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) { //! meta div.out_mode
  if (!rounding_mode.has_value()) {
    build_borrowing_binary_float_op(maybe_get_output(), self, other);
  // NOLINTNEXTLINE(bugprone-branch-clone)
  } else if (*rounding_mode == "floor") {
    build_borrowing_binary_op(maybe_get_output(), self, other);
  } else {
    TORCH_CHECK(false, "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
        "but found '", *rounding_mode, "'");
  }
}

#define CREATE_COMPARISON_SCALAR_TENSOR_META_FUNC(func)                     \
  TORCH_META_FUNC2(func, Tensor)(const Tensor& self, const Tensor& other) { \
    build_borrowing_comparison_op(maybe_get_output(), self, other);         \
  }                                                                         \
                                                                            \
  TORCH_META_FUNC2(func, Scalar)(const Tensor& self, const Scalar& other) { \
    auto other_tensor =                                                     \
        native::wrapped_scalar_tensor(other);                               \
    build_borrowing_except_last_argument_comparison_op(                     \
        maybe_get_output(), self, other_tensor);                            \
  }

CREATE_COMPARISON_SCALAR_TENSOR_META_FUNC(eq) //! meta eq.Tensor_out,eq.Scalar_out by CREATE_COMPARISON_SCALAR_TENSOR_META_FUNC

} // namespace at::meta


namespace at::native {

DEFINE_DISPATCH(sub_stub); //! defines sub_stub
DEFINE_DISPATCH(mul_stub); //! defines mul_stub
DEFINE_DISPATCH(div_true_stub); //! defines div_true_stub
DEFINE_DISPATCH(div_floor_stub); //! defines div_floor_stub
DEFINE_DISPATCH(eq_stub); //! defines eq_stub
DEFINE_DISPATCH(logical_xor_stub); //! defines logical_xor_stub

// Borrows the stub of another operator.
TORCH_IMPL_FUNC(sub_out) ( //! kernel sub.out CPU,CUDA
  const Tensor& self, const Tensor& other, const Scalar& alpha, const Tensor& result
) {
  add_stub(device_type(), *this, -alpha); //! hop sub.Tensor
  TORCH_INTERNAL_ASSERT(result.scalar_type() == output().dtype());
}

TORCH_IMPL_FUNC(mul_out) ( //! kernel mul.out CPU,CUDA
  const Tensor& self, const Tensor& other, const Tensor& result
) {
  mul_stub(device_type(), *this);
}

TORCH_IMPL_FUNC(div_out) (const Tensor& self, const Tensor& other, const Tensor& result) { //! kernel div.out CPU,CUDA
  div_true_stub(device_type(), *this);
}

TORCH_IMPL_FUNC(div_out_mode) ( //! kernel div.out_mode CPU,CUDA
  const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode, const Tensor& result
) {
  if (!rounding_mode.has_value()) {
    div_true_stub(device_type(), *this);
  } else if (*rounding_mode == "floor") {
    div_floor_stub(device_type(), *this);
  }
}

#define CREATE_COMPARISON_SCALAR_TENSOR_IMPL_FUNC(func)                                       \
  TORCH_IMPL_FUNC(func##_Tensor_out)(const Tensor& self, const Tensor& other, const Tensor& result) { \
    func##_stub(device_type(), *this);                                                        \
  }                                                                                           \
                                                                                              \
  TORCH_IMPL_FUNC(func##_Scalar_out)(const Tensor& self, const Scalar& other, const Tensor& result) { \
    func##_stub(device_type(), *this);                                                        \
  }

CREATE_COMPARISON_SCALAR_TENSOR_IMPL_FUNC(eq) //! kernel eq.Tensor_out,eq.Scalar_out CPU,CUDA by CREATE_COMPARISON_SCALAR_TENSOR_IMPL_FUNC

// A structured operator's symbol with the parameters of an older, named-tensor overload.
Tensor& mul_out(const Tensor& self, Dimname dim, const Tensor& other, Tensor& result) { //! not-kernel mul_out
  return at::mul_out(result, self, other);
}

static inline Tensor wrapped_scalar_tensor(const Scalar& scalar) {
  auto tensor = scalar_to_tensor(scalar);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

// Overloads of add: the types decide.
static Tensor add(const Tensor& self, int64_t other) { //! not-kernel add
  return at::add(self, wrapped_scalar_tensor(other));
}

Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha); // only a declaration

Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) { //! kernel add.Scalar CompositeExplicitAutograd
  return at::add(self, wrapped_scalar_tensor(other), alpha); // redispatch!
}

Tensor& add_(Tensor& self, const Scalar& other, const Scalar& alpha) { //! kernel add_.Scalar CompositeExplicitAutograd
  return self.add_(wrapped_scalar_tensor(other), alpha); // redispatch!
}

Tensor mul(const Tensor& self, const Scalar& other) { //! kernel mul.Scalar CompositeExplicitAutograd
  return at::mul(self, wrapped_scalar_tensor(other)); // redispatch!
}

Tensor& mul_(Tensor& self, const Scalar& other) { //! kernel mul_.Scalar CompositeExplicitAutograd
  return at::mul_out(self, wrapped_scalar_tensor(other), self); // redispatch!
}

Tensor multiply(const Tensor& self, const Tensor& other) { //! kernel multiply.Tensor CompositeImplicitAutograd
  return self.mul(other);
}

static Tensor add_zerotensor_impl(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return at::_efficientzerotensor(self.sizes());
}

Tensor add_zerotensor(const Tensor& self, const Tensor& other, const Scalar& alpha) { //! kernel add.Tensor ZeroTensor
  return add_zerotensor_impl(self, other, alpha);
}

Tensor mul_zerotensor(const Tensor& self, const Tensor& other) { //! kernel mul.Tensor ZeroTensor
  auto out_device = correct_out_device(self, other);
  // hack to use the TensorIterator to get the correct broadcasting and type promotion logic
  auto device_ = Device(DeviceType::Meta);
  constexpr c10::DispatchKeySet meta_dks(at::DispatchKey::Meta);
  auto meta_out = at::_ops::mul_Tensor::redispatch(meta_dks, self.to(device_), other.to(device_));
  return at::_efficientzerotensor(meta_out.sizes(), meta_out.options().device(out_device));
}

// The stub is an argument here.
static Tensor& comparison_op_out(Tensor& result, const Tensor& self, const Tensor& other, Stub& stub) {
  auto iter = TensorIterator::comparison_op(result, self, other);
  stub(iter.device_type(), iter);
  return result;
}

Tensor& lt_out(const Tensor& self, const Tensor& other, Tensor& result) { return comparison_op_out(result, self, other, logical_xor_stub); } //! kernel lt.Tensor_out CPU,CUDA
Tensor lt(const Tensor& self, const Tensor& other) { return at::lt_out(at::empty({0}), self, other); } //! kernel lt.Tensor CPU,CUDA

} // namespace at::native
