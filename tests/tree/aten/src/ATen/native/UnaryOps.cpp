#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/UnaryOps.h>

namespace at::meta {

// Unary float operations always produce floating point outputs.
#define CREATE_UNARY_FLOAT_META_FUNC(func)                        \
  TORCH_META_FUNC(func) (const Tensor& self) {                    \
    build_borrowing_unary_float_op(maybe_get_output(), self);     \
  }

CREATE_UNARY_FLOAT_META_FUNC(sigmoid) //! meta sigmoid.out by CREATE_UNARY_FLOAT_META_FUNC
CREATE_UNARY_FLOAT_META_FUNC(sin) //! meta sin.out by CREATE_UNARY_FLOAT_META_FUNC
// CREATE_UNARY_FLOAT_META_FUNC(ceil)
/* CREATE_UNARY_FLOAT_META_FUNC(ceil)
   TORCH_META_FUNC(ceil) (const Tensor& self) { } */

TORCH_META_FUNC(ceil) (const Tensor& self) { //! meta ceil.out
  // Note: this is consistent with NumPy
  TORCH_CHECK(!self.is_complex(),
    "ceil is not supported for complex inputs");
  build_borrowing_unary_op(maybe_get_output(), self);
}

} // namespace at::meta

namespace at::native {
// NOTE: helper functions and macros; you are not obliged to use them.
#define CREATE_UNARY_TORCH_IMPL_FUNC(func_out, func_stub)               \
TORCH_IMPL_FUNC(func_out) (const Tensor& self, const Tensor& result) {  \
  func_stub(device_type(), *this);                                      \
}

// torch.(ceil|floor|round|trunc) are no-ops for integers
#define CREATE_UNARY_TORCH_IMPL_INTEGER_NO_OP_FUNC(func_out, func_stub) \
TORCH_IMPL_FUNC(func_out) (const Tensor& self, const Tensor& result) {  \
  if (c10::isIntegralType(self.scalar_type(), /*includeBool=*/false)) { \
    result.copy_(self);                                                 \
  } else {                                                              \
    func_stub(device_type(), *this);                                    \
  }                                                                     \
}
CREATE_UNARY_TORCH_IMPL_INTEGER_NO_OP_FUNC(ceil_out, ceil_stub) //! kernel ceil.out CPU,CUDA by CREATE_UNARY_TORCH_IMPL_INTEGER_NO_OP_FUNC

CREATE_UNARY_TORCH_IMPL_FUNC(sigmoid_out, sigmoid_stub); //! kernel sigmoid.out CPU,CUDA by CREATE_UNARY_TORCH_IMPL_FUNC
CREATE_UNARY_TORCH_IMPL_FUNC(sin_out, sin_stub) //! kernel sin.out CPU,CUDA by CREATE_UNARY_TORCH_IMPL_FUNC

// The stub is passed on: the two ways that 1.13 and 2.0 call it.
template <typename Stub>
static inline Tensor& unary_op_impl_out(Tensor& result, const Tensor& self, Stub& stub) {
  auto iter = TensorIterator::unary_op(result, self);
  stub(iter.device_type(), iter);
  return result;
}

template <typename OutImpl>
static inline Tensor unary_op_impl(const Tensor& self, OutImpl& out_impl) {
  Tensor result = at::empty({0}, self.options());
  return out_impl(result, self);
}

Tensor& abs_out(const Tensor& self, Tensor& result) { //! kernel abs.out CPU,CUDA,MPS
  return unary_op_impl_out(result, self, abs_stub);
}
Tensor abs(const Tensor& self) { //! kernel abs CompositeExplicitAutograd
  return unary_op_impl(self, at::abs_out);
}
Tensor& abs_(Tensor& self) { //! kernel abs_ CompositeExplicitAutograd
  return unary_op_impl_(self, at::abs_out);
}

Tensor isinf(const Tensor& self) { //! kernel isinf CompositeExplicitAutograd
  if (c10::isIntegralType(self.scalar_type(), /*includeBool=*/true)) {
    return at::zeros_like(self, at::kBool, at::MemoryFormat::Preserve);
  }
  return AT_DISPATCH_FLOATING_TYPES_AND2(kBFloat16, kHalf, self.scalar_type(), "isinf", [&]() {
    return self.abs() == std::numeric_limits<scalar_t>::infinity();
  });
}

Tensor logical_not(const Tensor& self) { //! kernel logical_not CompositeExplicitAutograd
  Tensor result = at::empty({0}, self.options().dtype(kBool));
  return at::logical_not_out(result, self);
}
Tensor& logical_not_out(const Tensor& self, Tensor& result) { //! kernel logical_not.out CPU,CUDA
  TensorIterator iter = TensorIteratorConfig().add_output(result).add_const_input(self).build();
  logical_not_stub(iter.device_type(), iter);
  return result;
}

DEFINE_DISPATCH(abs_stub); // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)  //! defines abs_stub
DEFINE_DISPATCH(ceil_stub); //! defines ceil_stub
DEFINE_DISPATCH(logical_not_stub); //! defines logical_not_stub
DEFINE_DISPATCH(sigmoid_stub); //! defines sigmoid_stub
DEFINE_DISPATCH(sin_stub); //! defines sin_stub
DEFINE_DISPATCH(unused_stub); //! defines unused_stub

} // namespace at::native
