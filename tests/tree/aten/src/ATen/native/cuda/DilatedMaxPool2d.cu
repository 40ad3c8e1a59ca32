#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/Pool.h>

namespace at::native {
namespace {

template <typename scalar_t>
C10_LAUNCH_BOUNDS_1(CUDA_MAX_THREADS)
__global__ void max_pool_forward_nchw(const int nthreads, const scalar_t* bottom_data) { //! hop max_pool2d_with_indices.out launch
  CUDA_KERNEL_LOOP(index, nthreads) {
    int pw = index % 2;
  }
}

} // namespace

TORCH_IMPL_FUNC(max_pool2d_with_indices_out_cuda) //! kernel max_pool2d_with_indices.out CUDA
(const Tensor& input_,
int64_t kH, int64_t kW,
int64_t dH, int64_t dW,
int64_t padH, int64_t padW,
int64_t dilationH, int64_t dilationW,
bool ceil_mode,
const Tensor& output,
const Tensor& indices) {
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, input_.scalar_type(), "max_pool2d_with_indices_out_cuda_frame", [&] {
    max_pool_forward_nchw<scalar_t>
      <<<1, 256, 0, at::cuda::getCurrentCUDAStream()>>>(1, input_.const_data_ptr<scalar_t>());
  });
}

} // namespace at::native
