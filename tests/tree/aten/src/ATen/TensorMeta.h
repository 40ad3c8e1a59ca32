#pragma once

namespace at {

class Tensor;

namespace impl {

// Use this to define the prototype for a meta function; the FUNC2 variant takes the
// overload's name too.  Example usage, which no reader may take for a definition:
//
//    TORCH_META_FUNC2(add, Tensor) (
//      const Tensor& self, const Tensor& other
//    ) {
//    }
//
#define TORCH_META_FUNC(name) void structured_##name::meta
#define TORCH_META_FUNC2(name, overload) void structured_##name##_##overload::meta
#define TORCH_PRECOMPUTE_META_FUNC(name) \
  structured_##name::meta_return_ty structured_##name::meta
#define TORCH_PRECOMPUTE_META_FUNC2(name, overload) \
  structured_##name##_##overload::meta_return_ty    \
      structured_##name##_##overload::meta
#define TORCH_PRECOMPUTE_STRUCT(name) structured_##name::precompute_out<>
#define TORCH_PRECOMPUTE_STRUCT2(name, overload) \
  structured_##name##_##overload::precompute_out<>

#define TORCH_IMPL_FUNC(name) void structured_##name::impl

struct TORCH_API MetaBase {
  virtual const Tensor& maybe_get_output(int64_t output_idx) = 0;
};

} // namespace impl
} // namespace at
