#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/batch_norm.h>

namespace at::native {
namespace {

void batch_norm_cpu_kernel(Tensor& output, const Tensor& input, double eps) { //! implements batch_norm_cpu_stub CPU
  at::parallel_for(0, input.numel(), 1, [&](int64_t begin, int64_t end) {});
}

}// anonymous namespace

REGISTER_DISPATCH(batch_norm_cpu_stub, &batch_norm_cpu_kernel) //! registers batch_norm_cpu_stub CPU batch_norm_cpu_kernel

} // namespace at::native
