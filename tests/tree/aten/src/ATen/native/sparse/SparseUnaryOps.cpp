#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>

namespace at::native {
namespace {

template <typename Ufunc>
Tensor coalesced_unary_ufunc(const Tensor &self, const Ufunc &ufunc) { //! hop sin function
  TORCH_INTERNAL_ASSERT(self.is_sparse());
  const auto input = self.coalesce();
  return ufunc(input.values());
}

template <typename Ufunc>
Tensor& coalesced_unary_ufunc_(Tensor &self, const Ufunc &ufunc) {
  auto values = self._values();
  ufunc(values);
  return self;
}

template <typename Ufunc>
Tensor& coalesced_unary_ufunc_out(const Tensor &self, Tensor &result, const Ufunc &ufunc) {
  ufunc(self, result);
  return result;
}

}  // namespace (anonymous)

#define COALESCED_UNARY_UFUNC_FUNCTIONAL(op_name)   \
  Tensor op_name##_sparse(const Tensor &self) {     \
    return coalesced_unary_ufunc(                   \
        self, [](const Tensor &t) {                 \
          return at::op_name(t);                    \
        });                                         \
  }

#define COALESCED_UNARY_UFUNC_NO_INPLACE(op_name)                       \
  COALESCED_UNARY_UFUNC_FUNCTIONAL(op_name)                             \
  Tensor& op_name##_sparse_out(const Tensor &self,                      \
                               Tensor &out) {                           \
    return coalesced_unary_ufunc_out(                                   \
        self, out, [](const Tensor &t, Tensor &out) {                   \
          return at::op_name##_outf(t, out);                            \
        });                                                             \
  }

#define COALESCED_UNARY_UFUNC(op_name)                                  \
  COALESCED_UNARY_UFUNC_NO_INPLACE(op_name)                             \
  Tensor& op_name##_sparse_(Tensor &self) {                             \
    TORCH_CHECK(self.is_coalesced(),                                    \
                #op_name "_ requires coalesced input");                 \
    return coalesced_unary_ufunc_(self, [](Tensor &t) {                 \
      return t.op_name##_();                                            \
    });                                                                 \
  }

COALESCED_UNARY_UFUNC(abs) //! kernel abs,abs_,abs.out SparseCPU,SparseCUDA by COALESCED_UNARY_UFUNC
COALESCED_UNARY_UFUNC(sin) //! kernel sin,sin_,sin.out SparseCPU,SparseCUDA by COALESCED_UNARY_UFUNC
// relu function has no declaration, it may be unused in Pytorch.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wmissing-prototypes"
COALESCED_UNARY_UFUNC(relu) //! kernel relu,relu_ SparseCPU,SparseCUDA by COALESCED_UNARY_UFUNC
#pragma clang diagnostic pop

COALESCED_UNARY_UFUNC_FUNCTIONAL(isinf) //! kernel isinf SparseCPU,SparseCUDA by COALESCED_UNARY_UFUNC_FUNCTIONAL

Tensor isinf_sparse_meta(const Tensor& self) { //! kernel isinf SparseMeta
  TORCH_CHECK_NOT_IMPLEMENTED(0, "nyi isinf for SparseMeta");
}

}  // namespace at::native
