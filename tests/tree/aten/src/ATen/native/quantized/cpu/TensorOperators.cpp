#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>

namespace at::native {

/*
All comparator operators will be named "<aten op name>_quantized_cpu".
'_out' will be appended for the 'out' variant of the op.
*/

#define DEFINE_COMPARATOR(at_op) \
Tensor& at_op##_out_quantized_cpu(const Tensor& self, \
                                const Scalar& other, Tensor& out) { \
  TORCH_CHECK(out.dtype() == at::ScalarType::Bool, \
              "The 'out' tensor must have dtype 'torch.bool'"); \
  auto self_dq = self.dequantize(); \
  return at:: at_op##_out(out, self_dq, other); \
} \
Tensor at_op##_quantized_cpu(const Tensor& self, const Scalar& other) { \
  auto self_dq = self.dequantize(); \
  return at:: at_op(self_dq, other); \
} \
Tensor& at_op##_out_quantized_cpu(const Tensor& self, \
                                const Tensor& other, Tensor& out) { \
  /* We infer size to make sure the tensors are compatible. */\
  infer_size_dimvector(self.sizes(), other.sizes()); \
  return at:: at_op##_out(out, self.dequantize(), other.dequantize()); \
} \
Tensor at_op##_quantized_cpu(const Tensor& self, const Tensor& other) { \
  infer_size_dimvector(self.sizes(), other.sizes()); \
  return at:: at_op(self.dequantize(), other.dequantize()); \
}

#define AT_FORALL_OPERATORS(_) \
_(ne)                          \
_(eq)                          \
_(lt)                          \

AT_FORALL_OPERATORS(DEFINE_COMPARATOR) //! kernel eq.Tensor,eq.Scalar,eq.Tensor_out,eq.Scalar_out,lt.Tensor,lt.Tensor_out QuantizedCPU by AT_FORALL_OPERATORS

#undef AT_FORALL_OPERATORS
#undef DEFINE_COMPARATOR

const Tensor& quantized_resize_cpu_( //! kernel resize_ QuantizedCPU
    const Tensor& self,
    IntArrayRef size,
    std::optional<MemoryFormat> optional_memory_format) {
  return self;
}

}  // namespace at::native
