#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/ForeachUtils.h>
#include <ATen/native/cuda/MultiTensorApply.cuh>

namespace at::native {

template <typename T, template <class> class Op>
std::vector<Tensor> foreach_tensor_list_op(TensorList tensors1, TensorList tensors2, const Scalar& alpha = 1) { //! hop _foreach_add.List function
  std::vector<std::vector<at::Tensor>> tensor_lists;
  using opmath_t = at::opmath_type<T>;
  multi_tensor_apply<3>(tensor_lists, BinaryOpListAlphaFunctor<T, 3, 2, 2>(), Op<opmath_t>(), alpha.to<opmath_t>());
  return tensor_lists[2];
}

template <template <class> class Op>
std::vector<Tensor> all_types_complex_bool_half_bfloat16(TensorList tensors1, TensorList tensors2, const Scalar& alpha = 1) {
  return AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(
      kBFloat16, kBool, kHalf, tensors1[0].scalar_type(), "foreach_binary_op_list_cuda",
      [&]() { return foreach_tensor_list_op<scalar_t, Op>(tensors1, tensors2, alpha); });
}

template <template <class> class Op>
void all_types_complex_bool_half_bfloat16_(TensorList tensors1, TensorList tensors2, const Scalar& alpha = 1) {
}

#define FOREACH_BINARY_OP_LIST(FUNCTION, NAME, OP, DIVISION_OP)     \
  void foreach_tensor_##NAME##_list_kernel_cuda_(                   \
      TensorList tensors1, TensorList tensors2) {                   \
    if (!can_use_fast_route(tensors1, tensors2, DIVISION_OP)) {     \
      return at::native::foreach_tensor_##NAME##_list_kernel_slow_( \
          tensors1, tensors2);                                      \
    }                                                               \
                                                                    \
    FUNCTION##_<OP>(tensors1, tensors2);                            \
  }                                                                 \
                                                                    \
  std::vector<Tensor> foreach_tensor_##NAME##_list_kernel_cuda(     \
      TensorList tensors1, TensorList tensors2) {                   \
    return FUNCTION<OP>(tensors1, tensors2);                        \
  }

#define FOREACH_BINARY_OP_LIST_ALPHA(FUNCTION, NAME, OP)               \
  void foreach_tensor_##NAME##_list_kernel_cuda_(                      \
      TensorList tensors1, TensorList tensors2, const Scalar& alpha) { \
    FUNCTION##_<OP>(tensors1, tensors2, alpha);                        \
  }                                                                    \
                                                                       \
  std::vector<Tensor> foreach_tensor_##NAME##_list_kernel_cuda(        \
      TensorList tensors1, TensorList tensors2, const Scalar& alpha) { \
    return FUNCTION<OP>(tensors1, tensors2, alpha);                    \
  }

//! kernel _foreach_add.List,_foreach_add_.List CUDA by FOREACH_BINARY_OP_LIST_ALPHA
FOREACH_BINARY_OP_LIST_ALPHA(
    all_types_complex_bool_half_bfloat16,
    add,
    std::plus);
//! kernel _foreach_mul.List,_foreach_mul_.List CUDA by FOREACH_BINARY_OP_LIST
FOREACH_BINARY_OP_LIST(
    all_types_complex_bool_half_bfloat16,
    mul,
    std::multiplies,
    /*division_op*/ false);

} // namespace at::native
