#pragma once

#include <ATen/native/DispatchStub.h>

namespace at {
struct TensorIterator;
struct TensorIteratorBase;
} // namespace at

namespace at::native {

inline void alpha_check(const ScalarType dtype, const Scalar& alpha) {
  TORCH_CHECK(!alpha.isBoolean() || dtype == ScalarType::Bool,
              "Boolean alpha only supported for Boolean results.");
}

// Overloads: an inline function of a header, twice.
inline void sub_check(const TensorBase& self, const TensorBase& other) {
  TORCH_CHECK(self.scalar_type() != kBool || other.scalar_type() != kBool);
}

inline void sub_check(const TensorBase& self, const Scalar& scalar) {
  TORCH_CHECK(self.scalar_type() != kBool || !scalar.isBoolean());
}

using structured_binary_fn_alpha = void (*)(TensorIteratorBase&, const Scalar& alpha);
using structured_binary_fn = void (*)(TensorIteratorBase&);
using binary_fn = void (*)(TensorIterator&);

// NB: codegenned
DECLARE_DISPATCH(structured_binary_fn_alpha, add_stub) //! declares add_stub

DECLARE_DISPATCH(structured_binary_fn_alpha, sub_stub) //! declares sub_stub
DECLARE_DISPATCH(structured_binary_fn, mul_stub) //! declares mul_stub
DECLARE_DISPATCH(structured_binary_fn, div_true_stub) //! declares div_true_stub
DECLARE_DISPATCH(structured_binary_fn, div_floor_stub) //! declares div_floor_stub
DECLARE_DISPATCH(structured_binary_fn, eq_stub) //! declares eq_stub
DECLARE_DISPATCH(binary_fn, logical_xor_stub) //! declares logical_xor_stub
// Declared and defined nowhere.
DECLARE_DISPATCH(binary_fn, max_elementwise_stub) //! declares max_elementwise_stub

} // namespace at::native
