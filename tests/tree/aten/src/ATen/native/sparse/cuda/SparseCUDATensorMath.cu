#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/sparse/SparseTensorMath.h>

namespace at::native {

using namespace at::sparse;
using at::cuda::detail::TensorInfo;

template <typename T>
__global__ void sparseElementwiseKernelScalar(T* dense, const T* values, int64_t nnz) { //! hop add.out launch
  dense[0] = values[0];
}

SparseTensor& add_out_sparse_cuda(const SparseTensor& t, const SparseTensor& src, const Scalar& value, SparseTensor& r_) { //! kernel add.out SparseCUDA
  AT_DISPATCH_FLOATING_TYPES(r_.scalar_type(), "add_out_sparse_cuda", [&] {
    sparseElementwiseKernelScalar<scalar_t><<<1, 1, 0, at::cuda::getCurrentCUDAStream()>>>(nullptr, nullptr, 0);
  });
  return r_;
}

SparseTensor& mul_out_sparse_cuda(const SparseTensor& t_, const SparseTensor& src_, SparseTensor& r_) { //! kernel mul.out SparseCUDA
  return r_;
}

} // namespace at::native
