#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/Pool.h>

namespace at::meta {
using namespace at::native;
TORCH_META_FUNC(max_pool2d_with_indices) //! meta max_pool2d_with_indices.out
(const Tensor& input,
IntArrayRef kernel_size,
IntArrayRef stride,
IntArrayRef padding,
IntArrayRef dilation,
bool ceil_mode) {
  TORCH_CHECK(kernel_size.size() == 1 || kernel_size.size() == 2,
    "max_pool2d: kernel_size must either be a single int, or a tuple of two ints")
  set_output_raw_strided(0, {}, {}, input.options());
  set_output_raw_strided(1, {}, {}, input.options().dtype(kLong));
}
} // namespace at::meta

namespace at::native {

TORCH_IMPL_FUNC(max_pool2d_with_indices_out_cpu) //! kernel max_pool2d_with_indices.out CPU
(const Tensor& input,
int64_t kH, int64_t kW,
int64_t dH, int64_t dW,
int64_t padH, int64_t padW,
int64_t dilationH, int64_t dilationW,
bool ceil_mode,
const Tensor& output,
const Tensor& indices) {
  NoNamesGuard guard;
  max_pool2d_kernel(kCPU, output, indices, input, kW, kH);
}

DEFINE_DISPATCH(max_pool2d_kernel); //! defines max_pool2d_kernel

} // at::native
