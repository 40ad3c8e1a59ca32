#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/CPUBlas.h>

namespace at::meta {

#define ADDMM_META() \
  TORCH_CHECK(self.scalar_type() == mat2.scalar_type(), "self and mat2 must have the same dtype"); \
  set_output_raw_strided(0, {mat1.sizes()[0], mat2.sizes()[1]}, {}, mat1.options());

TORCH_META_FUNC(addmm)(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) { //! meta addmm.out
  ADDMM_META();
}

TORCH_META_FUNC(mm)(const Tensor & self, const Tensor & mat2) { //! meta mm.out
  TORCH_CHECK(self.dim() == 2, "self must be a matrix");
  set_output_raw_strided(0, {self.sizes()[0], mat2.sizes()[1]}, {}, self.options());
}

} // namespace at::meta

namespace at::native {

static void addmm_impl_cpu_( //! hop addmm function
    Tensor &result, const Tensor &self, Tensor m1, Tensor m2, const Scalar& beta, const Scalar& alpha) {
  AT_DISPATCH_FLOATING_TYPES(result.scalar_type(), "addmm_impl_cpu_", [&]{
    at::native::cpublas::gemm(
        m1.size(0), m2.size(1), m1.size(1),
        alpha.to<scalar_t>(),
        m1.const_data_ptr<scalar_t>(),
        result.mutable_data_ptr<scalar_t>());
  });
}

TORCH_IMPL_FUNC(addmm_out_cpu)(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha, const Tensor &result) { //! kernel addmm.out CPU
  auto b_self = expand_size(self, {mat1.sizes()[0], mat2.sizes()[1]}, "addmm_out");
  {
    at::NoNamesGuard nng;
    addmm_impl_cpu_(const_cast<Tensor&>(result), *b_self, mat1, mat2, beta, alpha);
  }
}

TORCH_IMPL_FUNC(mm_out_cpu)(const Tensor & self, const Tensor & mat2, const Tensor & result) { //! kernel mm.out CPU
  {
    at::NoNamesGuard nng;
    addmm_impl_cpu_(const_cast<Tensor&>(result), result, self, mat2, 0, 1);
  }
}

static Tensor _matmul_impl(Tensor& out, const Tensor& tensor1, const Tensor& tensor2) {
  NoNamesGuard guard;
  if (tensor1.dim() == 2 && tensor2.dim() == 2) {
    return out.defined() ? at::mm_out(out, tensor1, tensor2) : tensor1.mm(tensor2);
  }
  return at::mm(tensor1, tensor2);
}

Tensor matmul(const Tensor & tensor1, const Tensor & tensor2) { //! kernel matmul CompositeImplicitAutograd
  at::Tensor result, unused;
  result = at::native::_matmul_impl(unused, tensor1, tensor2);
  return result;
}

} // namespace at::native
