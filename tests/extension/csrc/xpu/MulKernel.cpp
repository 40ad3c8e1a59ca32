#include <xpu/MulKernel.h>

namespace at::native::xpu {

template <typename scalar_t>
struct MulKernelFunctor {
  void operator()(sycl::item<1> item) const {}
};

void mul_kernel(TensorIteratorBase& iter) { // mark: mul_kernel
  auto caller = MulKernelFunctor<float>();
  sycl_kernel_submit(sycl::range<1>(iter.numel()), getCurrentSYCLQueue(), caller);
}

void gelu_kernel(TensorIteratorBase& iter) { // mark: gelu_kernel
  getCurrentSYCLQueue().submit([&](sycl::handler& cgh) {
    cgh.parallel_for<Gelu>(sycl::range<1>(iter.numel()), [=](sycl::item<1> item) {});
  });
}

} // namespace at::native::xpu
