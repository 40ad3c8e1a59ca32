#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/SparseCsrTensorUtils.h>

namespace at::native {

using namespace at::sparse_csr;
using namespace at::sparse;

namespace {

template <typename F>
inline Tensor& unary_op_out(F op_out, const Tensor& self, Tensor& result) {
  op_out(self.values(), result.values());
  return result;
}

template <typename F, typename... Args>
inline Tensor& unary_op_inplace(Tensor& self, const F& op_inplace, Args&&... args) {
  auto self_values = self.values();
  (self_values.*op_inplace)(std::forward<Args>(args)...);
  return self;
}

template <typename F>
inline Tensor get_result_tensor_for_unary_op(F op, const Tensor& input) {
  return op(input.values());
}

} // end anonymous namespace

/* Implementation of Unary Ufuncs, those supported for Sparse CSR Layout
 * CREATE_UNARY_UFUNC(not_this_one)
 * Only simple funcs, with 0->0 correspondence are currently supported. */

#define CREATE_UNARY_UFUNC_OUT(op_name)                                  \
  Tensor& op_name##_sparse_csr_out(const Tensor& self, Tensor& result) { \
    return unary_op_out(&at::op_name##_outf, self, result);              \
  }

#define CREATE_UNARY_UFUNC_FUNCTIONAL(op_name)                 \
  Tensor op_name##_sparse_csr(const Tensor& self) {            \
    return get_result_tensor_for_unary_op(&at::op_name, self); \
  }

#define CREATE_UNARY_UFUNC_INPLACE(op_name)             \
  Tensor& op_name##_sparse_csr_(Tensor& self) {         \
    return unary_op_inplace(self, &Tensor::op_name##_); \
  }

#define CREATE_UNARY_UFUNC(op_name)       \
  CREATE_UNARY_UFUNC_OUT(op_name)         \
  CREATE_UNARY_UFUNC_FUNCTIONAL(op_name)  \
  CREATE_UNARY_UFUNC_INPLACE(op_name)

CREATE_UNARY_UFUNC(abs) //! kernel abs,abs_,abs.out SparseCsrCPU,SparseCsrCUDA by CREATE_UNARY_UFUNC
CREATE_UNARY_UFUNC(sin); //! kernel sin,sin_,sin.out SparseCsrCPU,SparseCsrCUDA by CREATE_UNARY_UFUNC

C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wunused-function")
static CREATE_UNARY_UFUNC(relu) //! kernel relu,relu_ SparseCsrCPU,SparseCsrCUDA by CREATE_UNARY_UFUNC
C10_DIAGNOSTIC_POP()

// isnan and isinf don't have an out variant
CREATE_UNARY_UFUNC_FUNCTIONAL(isinf) //! kernel isinf SparseCsrCPU,SparseCsrCUDA by CREATE_UNARY_UFUNC_FUNCTIONAL

// Macro debris in front of a definition.
C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wunused-function")
static C10_DIAGNOSTIC_POP() Tensor add_sparse_csr_helper(const Tensor& self) {
  return self;
}

C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wunused-function")
C10_DIAGNOSTIC_POP() Tensor add_sparse_csr(const Tensor& self, const Tensor& other, const Scalar& alpha) { //! kernel add.Tensor SparseCsrCPU,SparseCsrCUDA,SparseCsrMeta
  return at::add(add_sparse_csr_helper(self), other, alpha);
}

} // namespace at::native
