#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/TensorCompare.h>
#include <ATen/native/cuda/Loops.cuh>

namespace at::native {

namespace {

void inline launch_clamp_scalar(TensorIteratorBase& iter, Scalar lim0, Scalar lim1, at::native::detail::ClampLimits minmax){ //! hop clamp_min.out function
  AT_DISPATCH_ALL_TYPES_AND2(kHalf, kBFloat16, iter.common_dtype(), "clamp_scalar_cuda", [&] {
    using opmath_t = at::opmath_type<scalar_t>;
    auto lim0_val = lim0.to<opmath_t>();
    gpu_kernel(iter, [=]GPU_LAMBDA(scalar_t v) -> scalar_t {
      return ::max(static_cast<opmath_t>(v), lim0_val);
    });
  });
}

} // anonymous namespace

static void clamp_min_scalar_kernel_impl(TensorIteratorBase& iter, Scalar min) { //! implements clamp_min_scalar_stub CUDA
  launch_clamp_scalar(iter, min, min, at::native::detail::ClampLimits::Min);
}

REGISTER_DISPATCH(clamp_min_scalar_stub, &clamp_min_scalar_kernel_impl) //! registers clamp_min_scalar_stub CUDA clamp_min_scalar_kernel_impl

} // namespace at::native
