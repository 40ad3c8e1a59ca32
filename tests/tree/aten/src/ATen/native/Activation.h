#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

enum class GeluType { None, Tanh, END };

inline GeluType get_gelutype_enum(const std::string_view approximate) {
  return approximate == "tanh" ? GeluType::Tanh : GeluType::None;
}

// No "_stub" at the end.
DECLARE_DISPATCH(void (*)(TensorIteratorBase&, GeluType), GeluKernel) //! declares GeluKernel

} // namespace at::native
