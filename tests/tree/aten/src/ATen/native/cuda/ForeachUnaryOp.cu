#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/ForeachUtils.h>

namespace at::native {

template <template <class> class Op>
std::vector<Tensor> floating_complex_half(TensorList tensors) {
  return tensors.vec();
}

// makes the functor
#define STD_FUNCTOR(op_name, functor_name)   \
  template <typename T>                      \
  struct functor_name {                      \
    __device__ T operator()(T t) const {     \
      return std::op_name(t);                \
    }                                        \
  };

// given a functor and a "dispatch function", creates the outplace and inplace
// operations
#define OP_CUSTOM_FUNCTOR(function, op_name, functor_name)                  \
  std::vector<Tensor> foreach_tensor_##op_name##_cuda(TensorList tensors) { \
    return function<functor_name>(tensors);                                 \
  }                                                                         \
  void foreach_tensor_##op_name##_cuda_(TensorList tensors) {               \
    function##_<functor_name>(tensors);                                     \
  }

// creates a functor, outplace version, and inplace version.
#define OP(function, op_name, functor_name) \
  STD_FUNCTOR(op_name, functor_name);       \
  OP_CUSTOM_FUNCTOR(function, op_name, functor_name);

OP(floating_complex_half, exp, Exp); //! kernel _foreach_exp,_foreach_exp_ CUDA by OP

} // namespace at::native
