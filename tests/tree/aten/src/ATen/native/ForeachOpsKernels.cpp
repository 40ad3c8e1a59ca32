#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/ForeachUtils.h>

namespace at::native {

#define FOREACH_BINARY_OP_SCALAR(OP)                                      \
  void foreach_tensor_##OP##_scalar_kernel_slow_(                         \
      TensorList tensors, const Scalar& scalar) {                         \
    check_foreach_api_restrictions(tensors);                              \
                                                                          \
    for (auto& t : tensors) {                                             \
      t.OP##_(scalar);                                                    \
    }                                                                     \
  }                                                                       \
                                                                          \
  std::vector<Tensor> foreach_tensor_##OP##_scalar_kernel_slow(           \
      TensorList tensors, const Scalar& scalar) {                         \
    std::vector<Tensor> result;                                           \
    for (const auto& t : tensors) {                                       \
      result.emplace_back(t.OP(scalar));                                  \
    }                                                                     \
    return result;                                                        \
  }

#define FOREACH_BINARY_OP_LIST(OP)                            \
  std::vector<Tensor> foreach_tensor_##OP##_list_kernel_slow( \
      TensorList tensors1, TensorList tensors2) {             \
    std::vector<Tensor> result;                               \
    for (const auto i : c10::irange(tensors1.size())) {       \
      result.emplace_back(tensors1[i].OP(tensors2[i]));       \
    }                                                         \
    return result;                                            \
  }                                                           \
                                                              \
  void foreach_tensor_##OP##_list_kernel_slow_(               \
      TensorList tensors1, TensorList tensors2) {             \
    for (const auto i : c10::irange(tensors1.size())) {       \
      tensors1[i].OP##_(tensors2[i]);                         \
    }                                                         \
  }

// The same name as a macro of cuda/ForeachBinaryOpList.cu, with another body.
#define FOREACH_BINARY_OP_LIST_ALPHA(OP)                               \
  std::vector<Tensor> foreach_tensor_##OP##_list_kernel_slow(          \
      TensorList tensors1, TensorList tensors2, const Scalar& alpha) { \
    std::vector<Tensor> result;                                        \
    for (const auto i : c10::irange(tensors1.size())) {                \
      result.emplace_back(tensors1[i].OP(tensors2[i], alpha));         \
    }                                                                  \
    return result;                                                     \
  }                                                                    \
                                                                       \
  void foreach_tensor_##OP##_list_kernel_slow_(                        \
      TensorList tensors1, TensorList tensors2, const Scalar& alpha) { \
    for (const auto i : c10::irange(tensors1.size())) {                \
      tensors1[i].OP##_(tensors2[i], alpha);                           \
    }                                                                  \
  }

#define FOREACH_UNARY_OP(OP)                                           \
  std::vector<Tensor> foreach_tensor_##OP##_slow(TensorList tensors) { \
    std::vector<Tensor> result;                                        \
    for (const auto& t : tensors) {                                    \
      result.emplace_back(t.OP());                                     \
    }                                                                  \
    return result;                                                     \
  }                                                                    \
                                                                       \
  void foreach_tensor_##OP##_slow_(TensorList tensors) {               \
    for (auto& t : tensors) {                                          \
      t.OP##_();                                                       \
    }                                                                  \
  }

FOREACH_BINARY_OP_LIST_ALPHA(add) //! kernel _foreach_add.List,_foreach_add_.List CompositeExplicitAutograd by FOREACH_BINARY_OP_LIST_ALPHA

FOREACH_BINARY_OP_SCALAR(add) //! kernel _foreach_add.Scalar,_foreach_add_.Scalar CompositeExplicitAutograd by FOREACH_BINARY_OP_SCALAR

FOREACH_BINARY_OP_LIST(mul) //! kernel _foreach_mul.List,_foreach_mul_.List CompositeExplicitAutograd by FOREACH_BINARY_OP_LIST

FOREACH_UNARY_OP(exp) //! kernel _foreach_exp,_foreach_exp_ CompositeExplicitAutograd by FOREACH_UNARY_OP

} // namespace at::native
