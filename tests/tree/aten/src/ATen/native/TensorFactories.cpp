#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>

namespace at::native {

Tensor empty_cpu(IntArrayRef size, std::optional<ScalarType> dtype_opt, std::optional<Layout> layout_opt, //! kernel empty.memory_format CPU
                 std::optional<Device> device_opt, std::optional<bool> pin_memory_opt, std::optional<c10::MemoryFormat> memory_format_opt) {
  return at::detail::empty_cpu(size, dtype_opt, layout_opt, device_opt, pin_memory_opt, memory_format_opt);
}

Tensor& empty_out(IntArrayRef size, //! kernel empty.out CompositeImplicitAutograd
    std::optional<c10::MemoryFormat> optional_memory_format,
    Tensor& result) {
  result.resize_(size);
  return result;
}

// The overload that takes names; it is no operator of this tree.
Tensor empty_out(IntArrayRef size, std::optional<DimnameList> names) { //! not-kernel empty_out
  return at::empty(size);
}

// Conversions: one function for each scalar type, from a list macro of another folder.
#define DEFINE_CAST_OP(_1, n)                                    \
  Tensor _cast_##n(const Tensor& self, bool non_blocking) {      \
    if (self.scalar_type() == ScalarType::n)                     \
      return self;                                               \
    return self.to(ScalarType::n, non_blocking);                 \
  }

// Some scalar types in CAST_OP have no declarations, they may be unused in Pytorch.
C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wmissing-prototypes")
AT_FORALL_SCALAR_TYPES_AND(BFloat16, DEFINE_CAST_OP) //! kernel _cast_Float,_cast_Double CompositeImplicitAutograd by AT_FORALL_SCALAR_TYPES_AND
C10_DIAGNOSTIC_POP()

#undef DEFINE_CAST_OP

Tensor empty_like( //! kernel empty_like CompositeExplicitAutograd
    const Tensor& self,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory,
    std::optional<c10::MemoryFormat> optional_memory_format) {
  return at::empty_symint(self.sym_sizes(), self.options(), optional_memory_format);
}

Tensor empty_like_quantized( //! kernel empty_like QuantizedCPU,QuantizedCUDA
    const Tensor& self,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory,
    std::optional<c10::MemoryFormat> optional_memory_format) {
  return self;
}

Tensor new_empty_strided_symint( //! kernel new_empty_strided CompositeExplicitAutogradNonFunctional
    const Tensor& self,
    c10::SymIntArrayRef size,
    c10::SymIntArrayRef stride,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory
    ) {
  return at::empty_strided_symint(size, stride, self.options());
}

} // namespace at::native
