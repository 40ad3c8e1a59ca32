#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/quantized/cpu/QuantizedOps.h>

namespace at::native {
namespace {

void qrelu_kernel(const Tensor& qx, Tensor& qy) { //! implements qrelu_stub CPU
  AT_DISPATCH_QINT_TYPES(qx.scalar_type(), "qrelu", [&]() {
    cpu_kernel_vec(iter, [&](scalar_t value) -> scalar_t { return value; }, [&](Vec value) -> Vec { return value.relu(zero_point_vec); });
  });
}

template <bool ReLUFused = false>
void qadd_kernel(Tensor& out, const Tensor& self, const Tensor& other) { //! implements qadd_stub CPU; implements qadd_relu_stub CPU
  AT_DISPATCH_QINT_TYPES(out.scalar_type(), "qadd", [&]() {});
}

} // namespace

// Some quantization tests are flaky on Windows with AVX512. If --continue-through-error
// is used, only one fails.
#ifdef _WIN32
REGISTER_DISPATCH(qrelu_stub, &qrelu_kernel) //! registers qrelu_stub CPU qrelu_kernel
#else
ALSO_REGISTER_AVX512_DISPATCH(qrelu_stub, &qrelu_kernel) //! registers qrelu_stub CPU qrelu_kernel
#endif
REGISTER_DISPATCH(qadd_relu_stub, &qadd_kernel<true>) //! registers qadd_relu_stub CPU qadd_kernel
REGISTER_DISPATCH(qadd_stub, &qadd_kernel<false>) //! registers qadd_stub CPU qadd_kernel

} // namespace at::native
