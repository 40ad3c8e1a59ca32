#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/cuda/cub.cuh>

namespace at::native {

template <typename scalar_t>
void nonzero_cuda_out_impl(const Tensor& self, Tensor& out) { //! hop nonzero function
  cub::DeviceReduce::Sum(nullptr, temp_storage_bytes, itr, num_nonzeros);
}

Tensor& nonzero_out_cuda(const Tensor& self, Tensor& out) { //! kernel nonzero.out CUDA
  AT_DISPATCH_V2(
    self.scalar_type(),
    "nonzero_cuda",
    AT_WRAP([&] { nonzero_cuda_out_impl<scalar_t>(self, out); }),
    AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX),
    at::ScalarType::ComplexHalf,
    at::ScalarType::Bool);
  return out;
}

Tensor nonzero_cuda(const Tensor& self) { //! kernel nonzero CUDA
  Tensor out = at::empty({0}, self.options().dtype(kLong));
  return at::native::nonzero_out_cuda(self, out);
}
} // namespace at::native
