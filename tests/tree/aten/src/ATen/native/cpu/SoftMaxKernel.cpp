#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/cpu/SoftmaxKernel.h>

namespace at::native {
namespace {

template <typename scalar_t, bool LogSoftMax>
struct vec_host_softmax_lastdim {
  static void apply(const Tensor& output, const Tensor& input) {
    parallel_for(0, input.size(0), 1, [&](int64_t begin, int64_t end) {});
  }
};

template <typename scalar_t, bool LogSoftMax>
struct vec_softmax {
  static void apply(const Tensor& output, const Tensor& input, int64_t dim) {
    parallel_for(0, input.size(dim), at::get_num_threads(), [&](int64_t begin, int64_t end) {});
  }
};

static void softmax_lastdim_kernel_impl( //! implements softmax_lastdim_kernel CPU
    const Tensor& result,
    const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::BFloat16, at::ScalarType::Half, self.scalar_type(),
      "softmax_lastdim_kernel_impl",
      [&] { vec_host_softmax_lastdim<scalar_t, false>::apply(result, self); });
}

static void softmax_kernel_impl(const Tensor& result, const Tensor& self, int64_t dim) { //! implements softmax_kernel CPU
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::BFloat16, at::ScalarType::Half, self.scalar_type(),
    "softmax_kernel_impl",
    [&] { vec_softmax<scalar_t, false>::apply(result, self, dim); });
}

} // anonymous namespace

ALSO_REGISTER_AVX512_DISPATCH(softmax_lastdim_kernel, //! registers softmax_lastdim_kernel CPU softmax_lastdim_kernel_impl
                              &softmax_lastdim_kernel_impl)
ALSO_REGISTER_AVX512_DISPATCH(softmax_kernel, &softmax_kernel_impl) //! registers softmax_kernel CPU softmax_kernel_impl

} // namespace at::native
