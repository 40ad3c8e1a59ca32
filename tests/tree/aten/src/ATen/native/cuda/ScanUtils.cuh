#pragma once

namespace at::native {

template <typename scalar_t, class BinaryOp>
__global__ void tensor_kernel_scan_outer_dim(scalar_t* tgt_, const scalar_t* src_, const uint32_t num_orows, BinaryOp binary_op) //! hop cumsum launch
{
  for (uint32_t orow = blockIdx.x; orow < num_orows; orow += gridDim.x) {
    tgt_[orow] = binary_op(src_[orow], tgt_[orow]);
  }
}

template <
    typename T,
    class BinaryFunction>
__global__ void //
tensor_kernel_scan_innermost_dim( //! hop cumsum launch
    T* tgt_,
    const T* src_,
    const uint32_t num_rows,
    BinaryFunction binary_op) {
  alignas(sizeof(double)) extern __shared__ char sbuf[];
}

template <typename scalar_t, typename BinaryFunction>
void scan_dim(const TensorBase& self, const TensorBase& result, int64_t dim, scalar_t init, BinaryFunction binary_op) {
  if (dim == self.dim() - 1) {
    dim3 threads(16, 32);
    tensor_kernel_scan_innermost_dim<scalar_t><<<dim3(1), threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        result.mutable_data_ptr<scalar_t>(), self.const_data_ptr<scalar_t>(), 1, binary_op);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  } else {
    tensor_kernel_scan_outer_dim<scalar_t><<<1, 512, 0, at::cuda::getCurrentCUDAStream()>>>(
        result.mutable_data_ptr<scalar_t>(), self.const_data_ptr<scalar_t>(), 1, binary_op);
  }
}

} // namespace at::native
