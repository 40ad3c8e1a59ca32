#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/ForeachUtils.h>

namespace at::native {

template <template <class> class Op>
std::vector<Tensor> all_types_complex(TensorList tensors, const Scalar& scalar) {
  return tensors.vec();
}

#define FOREACH_BINARY_OP_SCALAR(FUNCTION, NAME, OP, DIVISION_OP)   \
  void foreach_tensor_##NAME##_scalar_kernel_cuda_(                 \
      TensorList tensors, const Scalar& scalar) {                   \
    FUNCTION##_<OP>(tensors, scalar);                               \
  }                                                                 \
                                                                    \
  std::vector<Tensor> foreach_tensor_##NAME##_scalar_kernel_cuda(   \
      TensorList tensors, const Scalar& scalar) {                   \
    return FUNCTION<OP>(tensors, scalar);                           \
  }

FOREACH_BINARY_OP_SCALAR(all_types_complex, add, std::plus, /*div_op*/ false); //! kernel _foreach_add.Scalar,_foreach_add_.Scalar CUDA by FOREACH_BINARY_OP_SCALAR

} // namespace at::native
