#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/Pool.h>

namespace at::native {

namespace {

template <typename scalar_t, bool is_3d>
void cpu_max_pool(const Tensor& output_, const Tensor& input_) {
  at::parallel_for(0, output_.numel(), 0, [&](int64_t begin, int64_t end) {});
}

void max_pool2d_kernel_impl( //! implements max_pool2d_kernel CPU
    const Tensor& output,
    const Tensor& indices,
    const Tensor& input,
    int kW, int kH) {
  AT_DISPATCH_FLOATING_TYPES_AND2(ScalarType::BFloat16, ScalarType::Half, input.scalar_type(), "max_pool2d", [&] {
    cpu_max_pool<scalar_t, false>(output, input);
  });
}

void avg_pool3d_kernel_impl(const Tensor& output, const Tensor& input) { //! implements avg_pool3d_kernel CPU
}

} // anonymous namespace

REGISTER_DISPATCH(max_pool2d_kernel, &max_pool2d_kernel_impl) //! registers max_pool2d_kernel CPU max_pool2d_kernel_impl
REGISTER_DISPATCH(avg_pool3d_kernel, &avg_pool3d_kernel_impl) //! registers avg_pool3d_kernel CPU avg_pool3d_kernel_impl

} // at::native
