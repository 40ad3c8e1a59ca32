#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/sparse/SparseTensorMath.h>

namespace at::native {

using namespace at::sparse;

// The names of the sparse files: SparseTensor is Tensor.
using SparseTensor = Tensor;

// --------------------------------------------------------------------
// add(SparseTensor, SparseTensor, Scalar)  [broadcasts]
// --------------------------------------------------------------------

Tensor add_sparse(const Tensor& self, const Tensor& other, const Scalar& alpha) { //! kernel add.Tensor SparseCPU,SparseCUDA,SparseMeta
  auto commonDtype = at::result_type(self, other);
  Tensor result = at::empty({0}, self.options().dtype(commonDtype));
  return at::add_out(result, self, other, alpha);  // redispatch!
}

Tensor& add_sparse_(Tensor& self, const Tensor& other, const Scalar& alpha) { //! kernel add_.Tensor SparseCPU,SparseCUDA,SparseMeta
  return at::add_out(self, self, other, alpha);  // redispatch!
}

static SparseTensor& add_out_sparse_contiguous(SparseTensor& r, const SparseTensor& t, const SparseTensor& src, const Scalar& value) { //! hop add.out function
  AT_DISPATCH_FLOATING_TYPES(r.scalar_type(), "cadd_sparse", [&] {});
  return r;
}

SparseTensor& add_out_sparse_cpu(const SparseTensor& t, const SparseTensor& src, const Scalar& value, SparseTensor& r) { //! kernel add.out SparseCPU,SparseMeta
  return add_out_sparse_contiguous(r, t, src, value);
}

Tensor& sub_out_sparse(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& r) { //! kernel sub.out SparseCPU,SparseCUDA
  return at::add_out(r, self, other, -alpha);  // redispatch!
}

Tensor sub_sparse(const Tensor& self, const Tensor& other, const Scalar& alpha) { //! kernel sub.Tensor SparseCPU,SparseCUDA
  return at::add(self, other, -alpha);
}

Tensor mul_sparse(const Tensor& self, const Tensor& other) { //! kernel mul.Tensor SparseCPU,SparseCUDA
  return at::mul_out(const_cast<Tensor&>(self), self, other);  // redispatch!
}

Tensor& mul_sparse_(Tensor& self, const Tensor& other) { //! kernel mul_.Tensor SparseCPU,SparseCUDA
  return at::mul_out(self, self, other);  // redispatch!
}

Tensor& mul_out_sparse_cpu(const Tensor& t_, const Tensor& src_, Tensor& r) { //! kernel mul.out SparseCPU
  return r;
}

// three overloads, and only one of them is a kernel
Tensor& s_addmm_out_sparse_dense_cpu(
    Tensor& r,
    const Tensor& t,
    const SparseTensor& sparse_,
    const Tensor& dense,
    const Scalar& beta,
    const Scalar& alpha) {
  at::native::cpublas::axpy(1, 1.0, nullptr, 1, nullptr, 1);
  return r;
}

Tensor& addmm_out_sparse_dense_cpu( //! kernel addmm.out SparseCPU
    const Tensor& self,
    const SparseTensor& mat1,
    const Tensor& mat2,
    const Scalar& beta,
    const Scalar& alpha,
    Tensor& result) {
  return s_addmm_out_sparse_dense_cpu(result, self, mat1, mat2, beta, alpha);
}

static Tensor addmm_sparse_dense_cpu(const Tensor& self, const SparseTensor& mat1) { //! not-kernel addmm_sparse_dense_cpu
  return self;
}

Tensor addmm_sparse_dense_cpu( //! kernel addmm SparseCPU
    const Tensor& self,
    const SparseTensor& mat1,
    const Tensor& mat2,
    const Scalar& beta,
    const Scalar& alpha) {
  Tensor r = at::empty({0}, self.options());
  s_addmm_out_sparse_dense_cpu(r, self, mat1, mat2, beta, alpha);
  return r;
}

Tensor _sparse_mm( //! kernel mm SparseCPU,SparseCUDA
  const Tensor& mat1,
  const Tensor& mat2
) {
  return at::addmm(mat1, mat1, mat2, 0, 1);
}

// The overload with a reduction.
Tensor _sparse_mm(const Tensor& mat1, const Tensor& mat2, const std::string_view reduce) { //! not-kernel _sparse_mm
  return mat1;
}

Tensor sum_coo(const Tensor &self, at::optional<ScalarType> dtype) { //! kernel sum SparseCPU,SparseCUDA
  return self._values().sum(dtype);
}

Tensor sum_sparse_coo(const Tensor& self, at::OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) { //! kernel sum.dim_IntList SparseCPU,SparseCUDA
  return self;
}

} // namespace at::native
